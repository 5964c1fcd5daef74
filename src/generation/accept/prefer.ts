import { MAX_WAIT_S } from '../../tasks/live/until-final.ts';

/**
 * The `wait` preference (RFC 7240). A preference may be ignored but never fails a request, so an odd one counts as none
 * and a long one as the longest.
 * @returns seconds, 0 to 60
 */
export function readPreferredWait(prefer: string | undefined): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?([0-9]{1,6})"?(?=$|[,;\s])/i.exec(prefer ?? '') ?? [];
  return seconds === undefined ? 0 : Math.min(Number(seconds), MAX_WAIT_S);
}
