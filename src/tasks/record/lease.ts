import type { Task } from './task.entity.ts';
import type { RunMoments } from './moment.ts';

/**
 * Identifies one claim of one task. Every write of a worker names id and attempt, so the write of a late worker changes
 * nothing.
 */
export interface LeaseRef {
  id: string;
  attempt: number;
}

/** A lease with the moments of its run that no statement has written yet. */
export interface NotedLease extends LeaseRef {
  readonly moments: RunMoments;
}

/** A claimed task with the seconds left until its deadline, measured by the database's clock. */
export type ClaimedTask = Task & { remaining_s: number };

export interface Claim {
  tasks: ClaimedTask[];
  /** Whether the claim found as many candidates as it asked for. Then there may be more. */
  full: boolean;
}
