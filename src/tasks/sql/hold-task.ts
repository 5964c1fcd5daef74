import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { LeaseRef } from '../record/lease.ts';

/**
 * Leaves the place of a task to another one of its API key while the task waits for its provider. `max_running` does not count
 * held tasks, but at most as many again are held. One whose job runs at its provider keeps its place. Locks tasks -> key_load. A
 * second call changes nothing.
 */
const HOLD: Statement = {
  name: 'tasks.hold',
  text: `
    with wanted as (
      select id, api_key_id from tasks_live where id = $1 and attempt = $2 and not held and submitted_at is null for update
    ), load as (
      select api_key_id from key_load
      where api_key_id = (select api_key_id from wanted) and held < max_running for update
    ), counted as (
      update key_load l set held = l.held + 1 from load where l.api_key_id = load.api_key_id returning l.api_key_id
    )
    update tasks_live t set held = true from wanted w join counted using (api_key_id) where t.id = w.id returning t.api_key_id`,
};

/** Raw SQL because the counter and the task are one statement. */
@Injectable()
export class HoldTask {
  constructor(private readonly sql: Sql) {}

  /** @returns the API key that has a place more now; null: none has */
  async hold({ id, attempt }: LeaseRef): Promise<string | null> {
    const [held] = await this.sql.run<{ api_key_id: string }>(HOLD, [id, attempt]);
    return held?.api_key_id ?? null;
  }
}
