import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { LeaseRef } from '../record/lease.ts';

/**
 * Stops counting a task as running while it waits for its provider or the end of a pause, so that another task of its
 * API key can run. At most `max_running` tasks of a key are held. A task whose job runs at its provider is never held.
 * Locks tasks -> key_load. A second call changes nothing.
 */
const HOLD: Statement = {
  name: 'tasks.hold',
  text: `
    with wanted as (
      select id, api_key_id, counts_for from tasks_live where id = $1 and attempt = $2 and not held and submitted_at is null for update
    ), load as (
      select l.api_key_id, held, max_running, shared_running from key_load l
      where api_key_id in (select unnest(array_append(counts_for, api_key_id)) from wanted) order by api_key_id for update
    ), allowed as (
      select w.* from wanted w join load using (api_key_id) where held < max_running
    ), counted as (
      update key_load l
      set held = l.held + (l.api_key_id = a.api_key_id)::int,
          below_running = greatest(l.below_running - (l.api_key_id <> a.api_key_id)::int, 0)
      from load, allowed a where l.api_key_id = load.api_key_id
    )
    update tasks_live t set held = true from allowed a where t.id = a.id returning t.api_key_id, array(select api_key_id from load where shared_running > 0) as shared_by`,
};

export interface FreedPlace {
  api_key_id: string;
  /** The keys that counted the task and share a limit of running tasks with the keys below them. */
  shared_by: string[];
}

/** Raw SQL because one statement changes the counter and the task. */
@Injectable()
export class HoldTask {
  constructor(private readonly sql: Sql) {}

  /** @returns the keys that may run one more task now; null if the task was not held */
  async hold({ id, attempt }: LeaseRef): Promise<FreedPlace | null> {
    const [held] = await this.sql.run<FreedPlace>(HOLD, [id, attempt]);
    return held ?? null;
  }
}
