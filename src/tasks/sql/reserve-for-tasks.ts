import { reservedBy, rolledTo } from '../../auth/limits/budget-columns.ts';
import { equalsOrdered } from '../../platform/database/planner.ts';
import type { Statement, Tx } from '../../platform/database/sql.ts';
import { BudgetExceeded, type SpentBudget } from '../record/budget-exceeded.ts';
import type { NewTask } from './new-task.ts';
import { BUDGET, SPENT_BUDGET } from './reserve-budget.ts';

/** $1 the API key, $2 the sum to reserve. */
const RESERVE: Statement = {
  name: 'tasks.reserve_budget',
  text: `
    with load as (
      select api_key_id from key_load where api_key_id = $1 for update
    ), ${BUDGET}, reserved as (
      update key_budgets b set ${rolledTo('m.today')}, ${reservedBy('m.today', '$2::bigint')}
      from budget m
      where b.api_key_id = m.api_key_id and $2::bigint <= m.left_micros
      returning b.day::text
    )
    select (select day from reserved) as day, case when amount_micros is not null then ${SPENT_BUDGET} end as budget
    from budget`,
};

const NOTE: Statement = {
  name: 'tasks.note_reservations',
  text: `
    update tasks_live t set budget_day = $1::date, reserved_micros = r.micros
    from unnest($2::text[], $3::bigint[]) as r(id, micros)
    where ${equalsOrdered('t.id', 'r.id')}`,
};

/**
 * Reserves the estimated cost of new tasks of one API key, in the transaction that inserts them: all of it, or nothing.
 * Call it after the insert, and after `key_load` if that is locked too. Does nothing for a key without a budget.
 * @throws BudgetExceeded; the transaction must then be rolled back
 */
export async function reserveForTasks(
  tx: Tx,
  apiKeyId: string,
  tasks: Pick<NewTask, 'id' | 'estimate_micros'>[],
): Promise<void> {
  const micros = tasks.map(({ estimate_micros = 0 }) => estimate_micros);
  const sum = micros.reduce((total, one) => total + one, 0);
  const { rows } = await tx.query<{ day: string | null; budget: SpentBudget | null }>({
    ...RESERVE,
    values: [apiKeyId, sum],
  });
  const { day, budget } = rows[0] ?? { day: null, budget: null };
  if (!budget) return;
  if (day === null) throw new BudgetExceeded(apiKeyId, budget);
  await tx.query({ ...NOTE, values: [day, tasks.map(({ id }) => id), micros] });
}
