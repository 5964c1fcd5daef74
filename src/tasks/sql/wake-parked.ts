import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Unparks the oldest parked tasks of these keys, as many as each key may run now. */
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
 * Raw SQL because it runs after every end, and because `skip locked` in a lateral join has no query-builder form. It is a
 * separate statement after the commit that freed the places: one snapshot cannot see both that end and a task parked just
 * before it. If the process dies between the two, the sweep does the same.
 */
@Injectable()
export class WakeParked {
  constructor(private readonly sql: Sql) {}

  /** @returns how many tasks may be claimed again */
  async wake(apiKeyIds: string[]): Promise<number> {
    return (await this.sql.run(WAKE, [apiKeyIds])).length;
  }
}
