import { describeBudget } from '../../auth/limits/budget.ts';
import { ApiError } from '../../errors/api-error.ts';

/** What a refusal says about the budget `b`. */
export interface SpentBudget {
  amount_micros: number;
  period: 'day' | 'month' | 'total';
  /** Until the period ends; null: it has no end. */
  retry_after_s: number | null;
  /** Its first refusal in this period was reported. */
  is_reported: boolean;
}

/** A creation is refused because its cost would pass the budget of the API key. */
export class BudgetExceeded extends ApiError {
  /** Its first refusal in this period was reported before. */
  readonly isReported: boolean;

  /**
   * @param apiKeyId whose budget it is
   * @param isAbove a key below that one creates the task
   */
  constructor(
    readonly apiKeyId: string,
    { retry_after_s, is_reported, ...budget }: SpentBudget,
    { isAbove = false } = {},
  ) {
    super('budget_exceeded', {
      message: isAbove
        ? 'The estimated cost would pass the budget of a key above this API key.' // whose amount is not for this one
        : `The estimated cost would pass the budget of this API key, ${describeBudget(budget)}.`,
      ...(retry_after_s !== null && { retryAfterS: retry_after_s }),
    });
    this.isReported = is_reported;
  }
}
