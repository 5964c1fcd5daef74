import { Injectable } from '@nestjs/common';
import { BudgetExceeded } from '../record/budget-exceeded.ts';

/** Lets a room above report the first creation of a period that a budget refuses. */
@Injectable()
export class BudgetRefusals {
  private readonly listeners: ((apiKeyId: string) => void)[] = [];

  register(listener: (apiKeyId: string) => void): void {
    this.listeners.push(listener);
  }

  /** Throws the error of a creation again. Refusals that were reported before cost nothing more. */
  rethrow(error: unknown): never {
    if (error instanceof BudgetExceeded && !error.isReported) {
      for (const listener of this.listeners) listener(error.apiKeyId);
    }
    throw error;
  }
}
