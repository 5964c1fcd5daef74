import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { NewTask } from './new-task.ts';

/**
 * Part of a creation, after a `wanted` of new tasks: how many of each API key there is room for, and how many unfinished ones
 * it has, which come before the new ones. The rows are locked, and in order, so two processes cannot lock each other out.
 */
export const LOAD = `
    load as (
      select l.api_key_id, l.queued + l.running as ahead, w.max_running,
             case when w.max_queued = 0 then w.tasks else greatest(least(w.tasks, w.max_queued - l.queued), 0) end as admitted
      from key_load l join (
        select api_key_id, count(*)::int as tasks, max(max_queued) as max_queued, max(max_running) as max_running
        from wanted group by api_key_id
      ) w using (api_key_id)
      order by l.api_key_id for update of l
    )`;

const OPEN: Statement = {
  name: 'tasks.open_key_load',
  text: `insert into key_load (api_key_id) select distinct unnest($1::text[]) order by 1 on conflict do nothing`,
};

/** PostgreSQL gave up waiting for a lock (2 s): a creation with this API key is still under way elsewhere. */
const LOCK_NOT_AVAILABLE = '55P03';

/** The counts of queued and running tasks that each API key has. */
@Injectable()
export class KeyCounters {
  private readonly opened = new Set<string>();

  constructor(private readonly sql: Sql) {}

  /** Sees to it that the API keys of these tasks are counted. */
  async open(tasks: NewTask[]): Promise<void> {
    const unopened = tasks.map((task) => task.api_key_id).filter((id) => !this.opened.has(id));
    if (unopened.length === 0) return;
    await this.sql.run(OPEN, [unopened]);
    for (const id of unopened) this.opened.add(id);
  }
}

export function queueFull({ max_queued }: NewTask): ApiError {
  return new ApiError('queue_full', {
    message: `${max_queued} tasks of this API key are queued already, which is its limit.`,
    headers: { 'retry-after': '5' },
  });
}

/** @returns what to throw in place of an error of a creation that waits for `load` */
export function whenLocked(error: unknown, code: 'idempotency_in_progress' | 'service_unavailable'): unknown {
  if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) return error;
  return new ApiError(code, { headers: { 'retry-after': '1' }, cause: error });
}
