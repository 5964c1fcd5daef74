import { Injectable } from '@nestjs/common';
import { BudgetExceeded } from '../record/budget-exceeded.ts';

/** Tells other modules when a budget refuses a task, but only the first time in each period of the budget. */
@Injectable()
export class BudgetRefusals {
  private readonly listeners: ((apiKeyId: string) => void)[] = [];

  register(listener: (apiKeyId: string) => void): void {
    this.listeners.push(listener);
  }

  /**
   * Throws the error of a creation again. A refusal by a budget is reported only if it is the first in the budget's
   * period.
   */
  rethrow(error: unknown): never {
    if (error instanceof BudgetExceeded && !error.isReported) {
      for (const listener of this.listeners) listener(error.apiKeyId);
    }
    throw error;
  }
}
