import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { WakeSignal } from '../queue/wake-signal.ts';

/** The oldest parked tasks of these keys, as many as their keys may run now, wait again. */
const WAKE: Statement = {
  name: 'tasks.wake_parked',
  text: `
    with free as (
      select api_key_id, case when max_running = 0 then 1000 else max_running - running end as places
      from key_load where api_key_id = any($1::text[])
    ), next as (
      select t.id from free, lateral (
        select id from tasks where api_key_id = free.api_key_id and parked order by id
        limit greatest(free.places, 0) for update skip locked) t
    )
    update tasks t set parked = false from next where t.id = next.id returning t.id`,
};

/**
 * A statement of its own after the commit that freed the places, because one snapshot cannot see both that end and a
 * task parked a moment before it. Should the process die in between, the sweep does the same.
 */
@Injectable()
export class WakeParked {
  constructor(
    private readonly sql: Sql,
    private readonly bell: WakeSignal,
  ) {}

  async wake(apiKeyIds: string[]): Promise<void> {
    if ((await this.sql.run(WAKE, [apiKeyIds])).length > 0) this.bell.notify();
  }
}
