import { MAX_WAIT_S } from '../../tasks/live/until-final.ts';

/**
 * Reads the `wait` preference (RFC 7240). A preference may be ignored but never fails a request, so an invalid one
 * counts as 0 and a longer one as the maximum.
 * @returns seconds, 0 to 60
 */
export function readPreferredWait(prefer: string | undefined): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?([0-9]{1,6})"?(?=$|[,;\s])/i.exec(prefer ?? '') ?? [];
  return seconds === undefined ? 0 : Math.min(Number(seconds), MAX_WAIT_S);
}
