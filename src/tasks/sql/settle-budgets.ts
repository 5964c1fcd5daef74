import { inMonthOf } from '../../auth/limits/budget-columns.ts';

const OF_DAY = 'e.budget_day = b.day';
const OF_MONTH = inMonthOf('e.budget_day');

/**
 * SQL fragment of a statement that ends tasks. In the budget of the day on which a task was created, it replaces what
 * the creation reserved by what the task cost. If that day or month is over, its numbers are not stored any more, and
 * do not change. Does nothing for tasks without a budget.
 * @param ended CTE with `api_key_id`, `budget_day`, `reserved_micros` and `cost_micros` of the tasks
 * @param before CTE whose rows have been locked before: one for each API key, as `api_key_id`
 */
export const settled = (ended: string, before: string): string => `
    budgets as (
      select b.api_key_id, b.day from ${before} join key_budgets b using (api_key_id)
      where b.api_key_id in (select api_key_id from ${ended} where budget_day is not null)
      order by b.api_key_id for update of b
    ), settled as (
      update key_budgets b
      set day_spent = b.day_spent + s.day_cost, day_reserved = b.day_reserved - s.day_released,
          month_spent = b.month_spent + s.month_cost, month_reserved = b.month_reserved - s.month_released,
          total_spent = b.total_spent + s.cost, total_reserved = b.total_reserved - s.released
      from (
        select api_key_id, sum(cost_micros)::bigint as cost, sum(reserved_micros)::bigint as released,
               ${sum('cost_micros', OF_DAY)} as day_cost, ${sum('reserved_micros', OF_DAY)} as day_released,
               ${sum('cost_micros', OF_MONTH)} as month_cost, ${sum('reserved_micros', OF_MONTH)} as month_released
        from ${ended} e join budgets b using (api_key_id)
        where e.budget_day is not null group by api_key_id
      ) s
      where b.api_key_id = s.api_key_id
    )`;

function sum(column: string, condition: string): string {
  return `coalesce(sum(${column}) filter (where ${condition}), 0)::bigint`;
}
