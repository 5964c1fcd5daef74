import { Injectable } from '@nestjs/common';
import { Sql, type Tx } from '../../platform/database/sql.ts';
import type { BudgetState } from './budget.ts';
import { budgetsAtThreshold, markBudget, readBudgets } from './sql/read-budgets.ts';

/**
 * Reads the budgets of API keys, and marks what was reported. The statements that create and end tasks write the
 * amounts.
 */
@Injectable()
export class KeyBudgets {
  constructor(private readonly sql: Sql) {}

  /** The budgets by API key. A key without a budget is missing. */
  async of(apiKeyIds: string[]): Promise<Map<string, BudgetState>> {
    if (apiKeyIds.length === 0) return new Map();
    const states = await readBudgets(this.sql, apiKeyIds);
    return new Map(states.map((state) => [state.api_key_id, state]));
  }

  /** API keys whose soft threshold is reached in this period, but not reported yet. At most 100. */
  atThreshold(): Promise<string[]> {
    return budgetsAtThreshold(this.sql);
  }

  /**
   * Marks the event as reported. Call it before the report is written, in the same transaction.
   * @returns null when there is nothing to report
   */
  report(tx: Tx, event: 'threshold' | 'exceeded', apiKeyId: string): Promise<BudgetState | null> {
    return markBudget(tx, event, apiKeyId);
  }
}
