import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { settled } from './settle-budgets.ts';

/**
 * Corrects the cost of a task that a cancel or the deadline has ended. Its cost was assumed at the end. When the
 * provider confirms afterwards that the job never ran, the cost becomes 0 in the ledger, the budget and the task. The
 * assumed cost stays if `usage_sums` already contains the row of the ledger, or if a call of the task was lost.
 */
const CONFIRM: Statement = {
  name: 'tasks.confirm_cancel',
  text: `
    with held as (
      select id, api_key_id, counts_for, budget_day, (usage->>'cost_micros')::bigint as cost_micros from tasks_done
      where id = $1 and lost_submits = 0 and error->>'code' in ('task_cancelled', 'task_deadline_exceeded') for update
    ), corrected as (
      update usage_ledger l set cost_micros = 0, basis = 'free' from held
      where l.task_id = held.id and l.basis in ('assumed', 'unpriced') and not l.rolled_up
      returning l.task_id
    ), returned as (
      select k.id as api_key_id, budget_day, 0 as reserved_micros, -cost_micros as cost_micros
      from held join corrected on task_id = held.id, unnest(array_append(counts_for, api_key_id)) k(id)
    ), ${settled('returned', 'returned')}
    update tasks_done t
    set sequence = t.sequence + 1,
        usage = t.usage::jsonb || '{"cost_micros": 0, "basis": "free"}'
    from corrected where t.id = corrected.task_id
    returning t.id`,
};

/** Raw SQL because the record and the ledger change together, and only if both may still change. */
@Injectable()
export class ConfirmCancel {
  constructor(private readonly sql: Sql) {}

  /** @returns whether the cost of the task has changed */
  async confirm(taskId: string): Promise<boolean> {
    return (await this.sql.run(CONFIRM, [taskId])).length === 1;
  }
}
