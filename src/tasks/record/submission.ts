import type { Approximation } from './task.entity.ts';
import type { FixedPrice } from './task-usage.ts';

/** The place where a task runs, and how many tasks may run there at the same time. */
export interface Place {
  provider: string;
  /** Base URL of the provider. */
  url: string;
  /** The provider's own name for the model. */
  model: string;
  /** Name of the environment variable that holds the provider's key. */
  credential: string | null;
  /** Most tasks in flight at this address and credential, counted across all processes; null = unlimited. */
  concurrency: number | null;
}

/** The place where a task will run, its price and its number of calls. They are recorded before the paid call. */
export interface Submission extends Place {
  approximations: Approximation[];
  /** The operator's price of this request; null if none fits. */
  price: FixedPrice | null;
  /** How many paid calls the task is about to make. */
  calls: number;
}

/** `full`: the provider is at its concurrency limit, and nothing was written. `lost`: the claim no longer holds. */
export type SubmitIntent = 'committed' | 'full' | 'lost';

/**
 * `counted`: the loss was counted. `last`: this was the last allowed attempt, and nothing was written. `lost`: the
 * claim no longer holds.
 */
export type LostSubmit = 'counted' | 'last' | 'lost';
