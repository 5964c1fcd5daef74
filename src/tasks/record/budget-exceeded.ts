import { describeBudget } from '../../auth/limits/budget.ts';
import { ApiError } from '../../errors/api-error.ts';

/** What a refusal says about a budget. */
export interface SpentBudget {
  amount_micros: number;
  period: 'day' | 'month' | 'total';
  /** Seconds until the period ends; null if it has no end. */
  retry_after_s: number | null;
  /** Whether the first refusal in this period was reported before. */
  is_reported: boolean;
}

/** The error of a creation whose cost would pass the budget of an API key. */
export class BudgetExceeded extends ApiError {
  /** Whether the first refusal in this period was reported before. */
  readonly isReported: boolean;

  /**
   * @param apiKeyId the key whose budget it is
   * @param isAbove whether a key below that one creates the task
   */
  constructor(
    readonly apiKeyId: string,
    { retry_after_s, is_reported, ...budget }: SpentBudget,
    { isAbove = false } = {},
  ) {
    super('budget_exceeded', {
      message: isAbove
        ? 'The estimated cost would pass the budget of a key above this API key.' // the amount of that key is not for this one
        : `The estimated cost would pass the budget of this API key, ${describeBudget(budget)}.`,
      ...(retry_after_s !== null && { retryAfterS: retry_after_s }),
    });
    this.isReported = is_reported;
  }
}
