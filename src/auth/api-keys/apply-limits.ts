import type { EntityManager } from 'typeorm';
import type { CallerLimits } from '../access/caller.ts';
import { setBudget } from '../limits/sql/set-budget.ts';
import type { ApiKeyHook } from './api-key-hook.ts';
import type { ApiKeyLimits, LimitChanges } from '../limits/api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';

export const changesBudget = (changes: LimitChanges | null | undefined): boolean =>
  changes === null || changes?.budget !== undefined;

/** The limits of a key after a change: those set on the key itself, and those in force. */
interface NewLimits {
  own: ApiKeyLimits;
  inForce: CallerLimits;
  hasBudgetChanged: boolean;
}

/**
 * Applies new limits to the tasks and the budget that exist already. Locks in the order that all statements keep:
 * tasks, key_load, key_budgets.
 */
export async function applyLimits(
  tx: EntityManager,
  hooks: readonly ApiKeyHook[],
  before: ApiKey,
  { own, inForce, hasBudgetChanged }: NewLimits,
): Promise<void> {
  const { id } = before;
  const isNew = hasBudgetChanged && own.budget !== undefined && before.limits.budget === undefined;
  if (isNew) for (const hook of hooks) await hook.beforeBudget?.(tx, id);
  for (const hook of hooks) await hook.onLimits?.(tx, id, inForce, own);
  if (hasBudgetChanged) await setBudget(tx, id, own.budget);
  if (hasBudgetChanged && own.budget) for (const hook of hooks) await hook.afterBudget?.(tx, id, isNew);
}
