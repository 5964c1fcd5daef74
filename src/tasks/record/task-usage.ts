/**
 * How the cost of a task was found. `priced`: by the operator's price for what was made. `reported`: by the tokens that
 * the provider reported. `free`: no paid call, or a job that was cancelled before it ran. `assumed`: a paid call may
 * have been charged. `unpriced`: there is no price for the task.
 */
export const COST_BASES = ['priced', 'reported', 'free', 'assumed', 'unpriced'] as const;
export type CostBasis = (typeof COST_BASES)[number];

/**
 * The price row that fits a request, fixed at submit time. Amounts are whole micro-units; an absent `per_` amount is
 * not charged. Stored with the task, so that a change of prices does not affect a running task.
 */
export interface FixedPrice {
  per_task?: number;
  per_image?: number;
  per_second?: number;
  per_million_input_tokens?: number;
  per_million_output_tokens?: number;
  /**
   * The amount for everything that was requested; absent if it depends on tokens alone. `failed` and `stopped` are then
   * absent too, unless they are 0.
   */
  full?: number;
  /** The amount for a job that failed at the provider: nothing, or the full amount. */
  failed?: number;
  /** The amount for a job that was cancelled, or was stopped at the deadline: nothing, or the full amount. */
  stopped?: number;
}

export interface Tokens {
  input: number;
  output: number;
}

/** What the worker that ran a task knows of the task's cost when the task ends. */
export interface RunUsage {
  /** The provider of the binding that ran the task to its end; null when none did. */
  provider: string | null;
  /** The price of the run; null if none fits. A run in the sandbox has one too, although it makes no paid call. */
  price: FixedPrice | null;
  /** The tokens that the provider reported; null if it reported none. */
  tokens: Tokens | null;
  /** Whether the provider charged a failed run; `unknown` if that is not certain, null if the run did not fail. */
  billing: 'charged' | 'unknown' | null;
  /** Calls that made nothing and may have been charged, in a run that succeeded. */
  unknown_calls?: number;
  /** Whether the provider has confirmed that it cancelled the job before the job ran. */
  cancelled_unrun: boolean;
}

/**
 * The usage that is stored with a final task. The rest of what a view shows is in the input of the task, in its result
 * and in the column `submits`.
 */
export interface StoredUsage {
  provider: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_micros: number;
  /** ISO 4217. */
  currency: string;
  basis: CostBasis;
}
