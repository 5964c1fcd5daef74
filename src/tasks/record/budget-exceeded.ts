import { describeBudget } from '../../auth/limits/budget.ts';
import { ApiError } from '../../errors/api-error.ts';

/** The budget that is used up, as the error of a refused creation describes it. */
export interface SpentBudget {
  amount_micros: number;
  period: 'day' | 'month' | 'total';
  /** Seconds until the period ends; null if it has no end. */
  retry_after_s: number | null;
  /** Whether a refusal in the current period of the budget was reported already. */
  is_reported: boolean;
}

/** The error of a creation whose estimated cost would pass the budget of its API key, or of a key above it. */
export class BudgetExceeded extends ApiError {
  /** Whether a refusal in the current period of the budget was reported already. */
  readonly isReported: boolean;

  /**
   * @param apiKeyId the key whose budget it is
   * @param isAbove whether the task is created by a key below `apiKeyId`
   */
  constructor(
    readonly apiKeyId: string,
    { retry_after_s, is_reported, ...budget }: SpentBudget,
    { isAbove = false } = {},
  ) {
    super('budget_exceeded', {
      message: isAbove
        ? // A key does not see the amount of a key above it.
          'The estimated cost would pass the budget of a key above this API key.'
        : `The estimated cost would pass the budget of this API key, ${describeBudget(budget)}.`,
      ...(retry_after_s !== null && { retryAfterS: retry_after_s }),
    });
    this.isReported = is_reported;
  }
}
