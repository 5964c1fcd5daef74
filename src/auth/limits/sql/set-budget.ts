import type { EntityManager } from 'typeorm';
import { reservedBy, rolledTo, TODAY } from '../budget-columns.ts';
import type { Budget } from '../budget.ts';

/**
 * Raw SQL because the row is rolled to the present day in the statement that changes it. A changed budget is reported
 * again.
 */
const SET = `
  insert into key_budgets as b (api_key_id, amount_micros, period, soft_percent, day)
  values ($1, $2, $3, $4, ${TODAY})
  on conflict (api_key_id) do update
  set amount_micros = excluded.amount_micros, period = excluded.period, soft_percent = excluded.soft_percent,
      threshold_of = null, exceeded_of = null, ${rolledTo('greatest(b.day, excluded.day)')},
      ${reservedBy('greatest(b.day, excluded.day)', '0')}`;

/** What tasks have reserved stays counted until they end. */
const REMOVE = `
  update key_budgets set amount_micros = null, period = null, soft_percent = null, threshold_of = null, exceeded_of = null
  where api_key_id = $1`;

/** Running creations follow at once, in every process, because they read this row under its lock. */
export async function setBudget(tx: EntityManager, apiKeyId: string, budget: Budget | undefined): Promise<void> {
  if (!budget) {
    await tx.query(REMOVE, [apiKeyId]);
    return;
  }
  const { amount_micros, period, soft_percent = null } = budget;
  await tx.query(SET, [apiKeyId, amount_micros, period, soft_percent]);
}
