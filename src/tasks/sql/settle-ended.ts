import type { Statement, Tx } from '../../platform/database/sql.ts';
import { settled } from './settle-budgets.ts';

/** An ended task, as far as the budget of its API key needs it. */
export interface SettledEnd {
  api_key_id: string;
  budget_day: string | null;
  /** Micro-units, as PostgreSQL writes them. */
  reserved_micros: string | null;
  cost_micros: string;
}

/**
 * A statement of its own: its snapshot is newer than the locks on the tasks. The first budget of a key locks its
 * unfinished tasks; an end that waits for one of them finds the task changed, but not the new row of the budget.
 */
const SETTLE: Statement = {
  name: 'tasks.settle_ended',
  text: `
    with ended as (
      select * from unnest($1::text[], $2::date[], $3::bigint[], $4::bigint[]) as e(api_key_id, budget_day, reserved_micros, cost_micros)
    ), keys as (
      select distinct api_key_id from ended order by api_key_id
    ), ${settled('ended', 'keys')}
    select 1`,
};

/** Call in the transaction that has ended the tasks, when it holds their keys' rows of key_load. */
export async function settleEnded(tx: Tx, ended: SettledEnd[]): Promise<void> {
  const reserved = ended.filter(({ budget_day }) => budget_day !== null);
  if (reserved.length === 0) return;
  const values = [
    reserved.map(({ api_key_id }) => api_key_id),
    reserved.map(({ budget_day }) => budget_day),
    reserved.map(({ reserved_micros }) => reserved_micros),
    reserved.map(({ cost_micros }) => cost_micros),
  ];
  await tx.query({ ...SETTLE, values });
}
