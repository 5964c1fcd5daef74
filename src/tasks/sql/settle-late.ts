import type { Statement, Tx } from '../../platform/database/sql.ts';
import { byIds } from '../../platform/database/planner.ts';
import { settled } from './settle-budgets.ts';

/** A statement of its own: its snapshot is newer than the lock on the row of `key_load`, which the end still holds. */
const SETTLE: Statement = {
  name: 'tasks.settle_late',
  text: `
    with ended as (
      select t.api_key_id, t.budget_day, t.reserved_micros, l.cost_micros
      from ${byIds('tasks t', '$1')} join usage_ledger l on l.task_id = id
    ), load as (
      select api_key_id from key_load where api_key_id in (select api_key_id from ended) order by api_key_id for update
    ), ${settled('ended', 'load')}
    select 1`,
};

/**
 * Over an ended task and the CTE `budgets`: whether the task belongs to a budget that the snapshot of the statement
 * lacks. The first budget of a key locks its unfinished tasks; an end that waits for one of them finds the task
 * changed, but not the new row of the budget.
 */
export const IS_UNSETTLED = `budget_day is not null and not exists (select 1 from budgets b where b.api_key_id = ended.api_key_id)`;

/** Call in the transaction that has ended the tasks. */
export const settleLate = (tx: Tx, taskIds: string[]): Promise<unknown> => tx.query({ ...SETTLE, values: [taskIds] });
