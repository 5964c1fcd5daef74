import { reservedBy, rolledTo } from '../../auth/limits/budget-columns.ts';
import { equalsOrdered } from '../../platform/database/planner.ts';
import type { Statement, Tx } from '../../platform/database/sql.ts';
import { BudgetExceeded, type SpentBudget } from '../record/budget-exceeded.ts';
import type { NewTask } from './new-task.ts';
import { BUDGET, SPENT_BUDGET } from './reserve-budget.ts';

/**
 * Reserves the sum $2 in each budget of the API keys $1, or in none. The tasks $3 record their parts $4 of the sum. A
 * removed budget leaves a row without an amount. Reservations are added to such a row too if another of the keys has a
 * budget, because the end of a task subtracts from the rows of all keys that count it.
 */
const RESERVE: Statement = {
  name: 'tasks.reserve_budget',
  text: `
    with load as (
      select api_key_id from key_load where api_key_id = any($1::text[]) order by api_key_id for update
    ), ${BUDGET}, whole as (
      select max(today) as today, coalesce(bool_and($2::bigint <= left_micros), true) as fits from budget
    ), reserved as (
      update key_budgets b set ${rolledTo('w.today')}, ${reservedBy('w.today', '$2::bigint')}
      from budget m, whole w
      where b.api_key_id = m.api_key_id and w.fits and w.today is not null
    ), noted as (
      update tasks_live t set budget_day = w.today, reserved_micros = r.micros
      from whole w cross join unnest($3::text[], $4::bigint[]) as r(id, micros)
      where w.fits and w.today is not null and ${equalsOrdered('t.id', 'r.id')}
    )
    select w.fits, b.api_key_id, ${SPENT_BUDGET} as budget
    from whole w left join lateral (
      select * from budget where not w.fits and $2::bigint > left_micros order by api_key_id limit 1
    ) budget on true cross join lateral (select budget.api_key_id) b`,
};

/**
 * Reserves the estimated cost of new tasks of an API key, in the transaction that inserts them: all of it, or nothing.
 * Call this after the insert, and after the statement that locks `key_load`, if there is one. Does nothing for keys
 * without a budget.
 * @param apiKeyIds the key, then those above it that count the tasks
 * @throws BudgetExceeded; the transaction must then be rolled back
 */
export async function reserveForTasks(
  tx: Tx,
  apiKeyIds: string[],
  tasks: Pick<NewTask, 'id' | 'estimate_micros'>[],
): Promise<void> {
  const micros = tasks.map(({ estimate_micros = 0 }) => estimate_micros);
  const sum = micros.reduce((total, one) => total + one, 0);
  const values = [apiKeyIds, sum, tasks.map(({ id }) => id), micros];
  const { rows } = await tx.query<Reservation>({ ...RESERVE, values });
  const [{ fits, api_key_id, budget }] = rows as [Reservation];
  if (!fits) throw new BudgetExceeded(api_key_id!, budget!, { isAbove: api_key_id !== apiKeyIds[0] });
}

interface Reservation {
  /** Also true if none of the keys has a budget. */
  fits: boolean;
  /** The key whose budget has no room; null if the tasks fit. */
  api_key_id: string | null;
  budget: SpentBudget | null;
}
