import type { EntityManager } from 'typeorm';
import { keysFrom } from '../../auth/limits/keys-below.ts';

/**
 * Adds up the sums of whole UTC days and the ledger rows that no sum contains yet, in one snapshot. What the keys below
 * this key have spent counts too. A task counts in the period in which it ended, because the sums do not have the time
 * of its creation. So a few tasks that were created before the period count, too.
 */
const COUNT = `
  update key_budgets b
  set day_spent = s.of_day, month_spent = s.of_month, total_spent = s.of_all
  from (
    select coalesce(sum(cost_micros) filter (where spent.day = d.day), 0)::bigint as of_day,
           coalesce(sum(cost_micros) filter (where date_trunc('month', spent.day) = date_trunc('month', d.day)), 0)::bigint as of_month,
           coalesce(sum(cost_micros), 0)::bigint as of_all
    from (select day from key_budgets where api_key_id = $1) d left join (
      select (starts_at at time zone 'utc')::date as day, cost_micros from usage_sums
      where api_key_id = any(array(${keysFrom('$1')})) and span = 'day' and metadata_key = ''
      union all
      select (completed_at at time zone 'utc')::date, cost_micros from usage_ledger
      where api_key_id = any(array(${keysFrom('$1')})) and not rolled_up
    ) spent on true
  ) s
  where b.api_key_id = $1`;

/** Raw SQL because one statement sums over two tables. It usually reads some thousand rows. */
export async function countEarlierSpending(tx: EntityManager, apiKeyId: string): Promise<void> {
  await tx.query(COUNT, [apiKeyId]);
}
