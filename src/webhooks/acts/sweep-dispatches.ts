import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Rows of one look. */
const SWEEP_ROWS = 500;

/**
 * Attempts whose process is gone: due again at once, without using up the schedule, for nobody knows how they went. In the
 * log they count as broken connections, which they were to the receiver.
 */
const RELEASE: Statement = {
  name: 'webhooks.release_lapsed',
  text: `
    with lapsed as (
      select event_id, endpoint_id, attempt from webhook_dispatches where lease_until < now()
      limit $1 for update skip locked
    ), again as (
      update webhook_dispatches d
      set lease_until = null, due_at = case when d.trigger <> 'test' and e.status = 'enabled' then now() end
      from lapsed l join webhook_endpoints e on e.id = l.endpoint_id
      where d.event_id = l.event_id and d.endpoint_id = l.endpoint_id
      returning d.event_id, d.endpoint_id, d.attempt, d.due_at
    ), logged as (
      update webhook_deliveries l
      set error = 'connect_failed', duration_ms = 1000 * extract(epoch from now() - l.attempted_at), next_attempt_at = a.due_at
      from again a
      where l.event_id = a.event_id and l.endpoint_id = a.endpoint_id and l.attempt = a.attempt and l.duration_ms is null
    )
    select distinct endpoint_id as id from again where due_at is not null`,
};

/** Endpoints for which something is overdue: its job was lost, or a process died between an attempt and the next look. */
const OVERDUE: Statement = {
  name: 'webhooks.overdue',
  text: `
    select e.id from webhook_endpoints e
    where e.status = 'enabled' and exists (
      select 1 from webhook_dispatches d where d.endpoint_id = e.id and d.due_at < now() - interval '2 seconds')
    limit $1`,
};

/** Cascades to dispatches and deliveries. */
const PURGE: Statement = {
  name: 'webhooks.purge',
  text: `delete from webhook_events where id in (select id from webhook_events where expires_at < now() limit $1)
         returning id`,
};

@Injectable()
export class SweepDispatches {
  constructor(private readonly sql: Sql) {}

  /** @returns ids of the endpoints to look at */
  async found(): Promise<string[]> {
    const released = await this.sql.run<{ id: string }>(RELEASE, [SWEEP_ROWS]);
    const overdue = await this.sql.run<{ id: string }>(OVERDUE, [SWEEP_ROWS]);
    return [...new Set([...released, ...overdue].map(({ id }) => id))];
  }

  /** @returns whether there may be more */
  async purge(): Promise<boolean> {
    return (await this.sql.run(PURGE, [SWEEP_ROWS])).length === SWEEP_ROWS;
  }
}
