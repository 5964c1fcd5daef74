import type { EntityManager } from 'typeorm';
import { inMonthOf } from '../../auth/limits/budget-columns.ts';
import { keysFrom } from '../../auth/limits/keys-below.ts';
import { isOneOf, lockedWhere } from './locked-rows.ts';

/**
 * Counts unfinished tasks in the budget of the day of their creation. Nothing is reserved for them, because their
 * estimates were not stored.
 */
const COUNT_UNFINISHED = `
  with ${lockedWhere(`api_key_id = any(array(${keysFrom('$1')})) and budget_day is null`)}
  update tasks_live t set budget_day = (t.created_at at time zone 'utc')::date, reserved_micros = 0
  where ${isOneOf('select id from locked')}`;

const COUNTS_ALREADY = `(api_key_id = $1 or coalesce(counts_for @> array[$1::text], false))`;

/**
 * Makes ended tasks of the key and of the keys below it count in the budget, if the provider may still confirm that the
 * job never ran. Such a confirmation returns the cost to the budget. These tasks ended at most some minutes ago,
 * because `usage_sums` does not contain them yet.
 */
const COUNT_CORRECTABLE = `
  update tasks_done
  set budget_day = coalesce(budget_day, (created_at at time zone 'utc')::date),
      counts_for = case when ${COUNTS_ALREADY} then counts_for else array_append(counts_for, $1) end
  where (budget_day is null or not ${COUNTS_ALREADY}) and id = any(array(
    select task_id from usage_ledger
    where api_key_id = any(array(${keysFrom('$1')})) and not rolled_up and basis in ('assumed', 'unpriced')))`;

/**
 * Makes tasks count in a budget that the key is about to get: unfinished ones, whose cost is still to come, and ended
 * ones, whose cost may still be taken back.
 */
export async function countUnfinished(tx: EntityManager, apiKeyId: string): Promise<void> {
  await tx.query(COUNT_UNFINISHED, [apiKeyId]);
  await tx.query(COUNT_CORRECTABLE, [apiKeyId]);
}

/**
 * Run this while the row of the budget is locked. Every reservation in the row then belongs to a task that this
 * statement sees, and an end that it does not see waits for the row. Raw SQL because it is one sum by an index.
 */
const RECOUNT = `
  update key_budgets b set day_reserved = s.of_day, month_reserved = s.of_month, total_reserved = s.of_all
  from (
    select coalesce(sum(t.reserved_micros) filter (where t.budget_day = b.day), 0)::bigint as of_day,
           coalesce(sum(t.reserved_micros) filter (where ${inMonthOf('t.budget_day')}), 0)::bigint as of_month,
           coalesce(sum(t.reserved_micros), 0)::bigint as of_all
    from (select day from key_budgets where api_key_id = $1) b left join tasks_live t
      on t.api_key_id = any(array(${keysFrom('$1')})) and (t.api_key_id = $1 or t.counts_for @> array[$1::text]) and t.budget_day is not null
  ) s
  where b.api_key_id = $1`;

/**
 * Corrects the reservations of a budget that is being set: a process of an older release may have ended tasks without
 * returning what they had reserved.
 */
export async function recountReservations(tx: EntityManager, apiKeyId: string): Promise<void> {
  await tx.query(RECOUNT, [apiKeyId]);
}
