import type { DatabaseHost } from '../../config/database-hosts.ts';

/** What a server says about itself; `away` if it did not answer. */
export type Answer =
  | { host: DatabaseHost; role: 'primary'; timeline: number; system: string }
  | { host: DatabaseHost; role: 'standby' | 'read-only' | 'unreported' }
  | { host: DatabaseHost; role: 'away'; cause: Error };

type Primary = Extract<Answer, { role: 'primary' }>;

/**
 * Two servers are primaries of different clusters. The clusters share no data, so each would have some of the tasks.
 */
export class TwoClustersError extends Error {
  constructor(first: DatabaseHost, second: DatabaseHost) {
    super(`${first.name} and ${second.name} are primaries of different clusters, not servers of one.`);
    this.name = 'TwoClustersError';
  }
}

/**
 * Chooses the primary with the highest timeline, because a promotion begins a new timeline. A primary with a lower one
 * has been cut off from its standby, and the writes that it still takes are lost.
 * @param current stays the primary if no other server has a higher timeline
 * @returns undefined if no server says that it is primary
 * @throws TwoClustersError
 */
export function choosePrimary(answers: readonly Answer[], current?: DatabaseHost): DatabaseHost | undefined {
  const [first, ...others] = answers
    .filter((answer): answer is Primary => answer.role === 'primary')
    .sort((a, b) => b.timeline - a.timeline || rank(b, current) - rank(a, current));
  if (!first) return undefined;
  const foreign = others.find(({ system }) => system !== first.system);
  if (foreign) throw new TwoClustersError(first.host, foreign.host);
  return first.host;
}

const rank = ({ host }: Primary, current?: DatabaseHost): number => Number(host === current);
