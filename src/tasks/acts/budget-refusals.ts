import { Injectable } from '@nestjs/common';
import { BudgetExceeded } from '../record/budget-exceeded.ts';

/** Lets a room above report the first creation of a period that a budget refuses. */
@Injectable()
export class BudgetRefusals {
  private readonly listeners: ((apiKeyId: string) => void)[] = [];

  register(listener: (apiKeyId: string) => void): void {
    this.listeners.push(listener);
  }

  /** Runs a creation. Refusals that were reported before cost nothing more. */
  async watch<Created>(create: () => Promise<Created>): Promise<Created> {
    try {
      return await create();
    } catch (error) {
      if (error instanceof BudgetExceeded && !error.isReported) this.note(error);
      throw error;
    }
  }

  private note({ apiKeyId }: BudgetExceeded): void {
    for (const listener of this.listeners) listener(apiKeyId);
  }
}
