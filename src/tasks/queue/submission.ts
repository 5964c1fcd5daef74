import type { Approximation } from '../task.entity.ts';

/** The provider that will run a task, recorded before the paid call. */
export interface Submission {
  provider: string;
  /** Base URL of the provider. */
  url: string;
  /** The provider's own name for the model. */
  model: string;
  /** Name of the environment variable that holds the provider's key. */
  credential: string | null;
  approximations: Approximation[];
  /** Most tasks in flight at this address and credential, counted across all processes; null = unlimited. */
  concurrency: number | null;
}

/** `full`: the provider is at its concurrency limit and nothing was written. `lost`: the claim no longer holds. */
export type SubmitIntent = 'committed' | 'full' | 'lost';
