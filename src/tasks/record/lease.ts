import type { Clocks } from '../../platform/run/clocks.ts';
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

export interface ClaimedTask extends Task {
  /** Seconds left until the deadline when the task was claimed, measured by the database's clock. */
  remaining_s: number;
  /** When this process sent the claim. The lease began no earlier. */
  claim_sent: Clocks;
}

export interface Claim {
  tasks: ClaimedTask[];
  /** Whether the claim found as many candidates as it asked for. Then there may be more. */
  full: boolean;
}
