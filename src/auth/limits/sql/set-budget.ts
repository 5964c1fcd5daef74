import type { EntityManager } from 'typeorm';
import { reservedBy, rolledTo, TODAY } from '../budget-columns.ts';
import type { Budget } from '../budget.ts';

/**
 * Raw SQL because the statement that changes the row also moves it to the current day. Clears what webhooks have
 * reported, so they report on the changed budget even in the same period.
 */
const SET = `
  insert into key_budgets as b (api_key_id, amount_micros, period, soft_percent, day)
  values ($1, $2, $3, $4, ${TODAY})
  on conflict (api_key_id) do update
  set amount_micros = excluded.amount_micros, period = excluded.period, soft_percent = excluded.soft_percent,
      threshold_of = null, exceeded_of = null, ${rolledTo('greatest(b.day, excluded.day)')},
      ${reservedBy('greatest(b.day, excluded.day)', '0')}`;

/** Keeps the reserved amounts. They stay counted until the tasks that reserved them end. */
const REMOVE = `
  update key_budgets set amount_micros = null, period = null, soft_percent = null, threshold_of = null, exceeded_of = null
  where api_key_id = $1`;

/** Creations read this row under its lock, so the change applies to them at once, in every process. */
export async function setBudget(tx: EntityManager, apiKeyId: string, budget: Budget | undefined): Promise<void> {
  if (!budget) {
    await tx.query(REMOVE, [apiKeyId]);
    return;
  }
  const { amount_micros, period, soft_percent = null } = budget;
  await tx.query(SET, [apiKeyId, amount_micros, period, soft_percent]);
}
