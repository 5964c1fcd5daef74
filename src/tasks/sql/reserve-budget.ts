import {
  dayAfter,
  firstDay,
  inPeriod,
  reservedBy,
  rolledTo,
  startOf,
  TODAY,
} from '../../auth/limits/budget-columns.ts';
import { hiddenTime } from '../../platform/database/planner.ts';

/**
 * Fragments of the statement that creates tasks of API keys with a budget. The statement locks the budget, reserves the
 * estimated cost of the tasks and inserts them. So the reservations never pass what remains of the budget, in any
 * number of processes.
 */

/** SQL: what remains of the budget. null if the budget was removed, which a process may learn up to 5 s later. */
const LEFT = `b.amount_micros - (${inPeriod('spent', 'd.today')}) - (${inPeriod('reserved', 'd.today')})`;

/**
 * SQL fragment; needs the CTE `load`, so that the rows of `load` are locked first. A row has the present day, or a
 * later day if the statement has waited for the row past midnight.
 */
export const BUDGET = `
    budget as (
      select b.api_key_id, case when b.amount_micros is not null then d.today end as today, b.amount_micros, b.period,
             (${LEFT})::bigint as left_micros,
             case when b.period <> 'total' then
               greatest(1, ceil(extract(epoch from ${startOf(dayAfter('d.today'))} - clock_timestamp())))::int
             end as retry_after_s,
             b.exceeded_of is not distinct from ${firstDay('d.today')} as is_reported
      from load join key_budgets b using (api_key_id), lateral (select greatest(b.day, ${TODAY}) as today) d
      order by b.api_key_id for update of b
    )`;

/**
 * SQL fragment; needs the CTEs `wanted`, `load` and `budget`. Decides about the tasks of each key one after the other:
 * a task that does not fit leaves the rest of the budget to the next one. A repeated request reserves nothing and takes
 * no room.
 */
export const DECIDED = `
    considered as (
      select w.id, load.api_key_id, w.nth, coalesce(w.estimate_micros, 0) as estimate, load.admitted, budget.left_micros,
             coalesce((select true from idempotency_keys k
                       where k.api_key_id = load.api_key_id and k.key = w.idempotency_key and ${hiddenTime('k.expires_at')} >= now()), false) as known
      from wanted w join load using (key) left join budget using (api_key_id)
    ), decided(id, api_key_id, nth, refusal, room, left_micros) as (
      select c.id, c.api_key_id, c.nth, v.refusal, c.admitted - v.taken, c.left_micros - v.taken * c.estimate
      from considered c, lateral (${verdict('c.admitted', 'c.left_micros')}) v
      where c.nth = 1
      union all
      select c.id, c.api_key_id, c.nth, v.refusal, d.room - v.taken, d.left_micros - v.taken * c.estimate
      from decided d join considered c on c.api_key_id = d.api_key_id and c.nth = d.nth + 1,
           lateral (${verdict('d.room', 'd.left_micros')}) v
    )`;

function verdict(room: string, left: string): string {
  const refusal = `
        case when c.known then 'known_key' when ${room} < 1 then 'queue_full'
             when c.estimate > ${left} then 'budget_exceeded' end`;
  return `select r.refusal, (r.refusal is null)::int as taken from (select ${refusal} as refusal) r`;
}

/**
 * SQL fragment: reserves the estimates. Needs the CTE `made`, which returns `api_key_id` and MADE_COLUMNS of each
 * inserted task.
 */
export const RESERVED = `
    reserved as (
      update key_budgets b set ${rolledTo('m.budget_day')}, ${reservedBy('m.budget_day', 'm.micros')}
      from (
        select api_key_id, budget_day, sum(reserved_micros)::bigint as micros
        from made where budget_day is not null group by api_key_id, budget_day
      ) m
      where b.api_key_id = m.api_key_id and (m.micros > 0 or b.day < m.budget_day)
    )`;
export const MADE_COLUMNS = 'budget_day, reserved_micros';

/** SQL: a `SpentBudget` as JSON. Needs the CTE `budget`. */
export const SPENT_BUDGET = `
      json_build_object('amount_micros', budget.amount_micros, 'period', budget.period,
                        'retry_after_s', budget.retry_after_s, 'is_reported', budget.is_reported)`;
