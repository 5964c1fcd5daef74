import type { Task } from './task.entity.ts';
import type { RunMoments } from './moment.ts';

/** Identifies one claim of one task: every write of a worker names both, so a late worker changes nothing. */
export interface LeaseRef {
  id: string;
  attempt: number;
}

/** A lease whose run keeps its moments until a statement writes them. */
export interface NotedLease extends LeaseRef {
  readonly moments: RunMoments;
}

/** A claimed task with the seconds left until its deadline, measured by the database's clock. */
export type ClaimedTask = Task & { remaining_s: number };

export interface Claim {
  tasks: ClaimedTask[];
  /** Whether the claim found as many candidates as it had room for, so that there may be more. */
  full: boolean;
}
