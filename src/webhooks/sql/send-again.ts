import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { DeliverySignal } from '../deliveries/delivery-signal.ts';
import { type AnyEventType, TEST_EVENT } from '../events/event-type.ts';

export interface ResentEvent {
  id: string;
  type: AnyEventType;
  created_at: Date;
  /** Who gets it. */
  endpoint_ids: string[];
}

/** A test goes before all that waits, since somebody sits and looks at it; a disabled endpoint can be tested too. */
const TEST: Statement = {
  name: 'webhooks.test',
  text: `
    with event as (
      insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
      select $1, $2, '${TEST_EVENT}', $3, $4::timestamptz, $4::timestamptz + make_interval(secs => $5)
      returning id
    )
    insert into webhook_dispatches (event_id, endpoint_id, due_at, trigger)
    select id, $6, to_timestamp(0), 'test' from event`,
};

/** To every endpoint that takes such events now. What is under way is not disturbed: that attempt is as good. */
const REDELIVER: Statement = {
  name: 'webhooks.redeliver',
  text: `
    with event as (
      select id, type, created_at from webhook_events where id = $1 and api_key_id = $2 and expires_at > now()
    ), takers as (
      select e.id as endpoint_id from webhook_endpoints e, event v
      where e.api_key_id = $2 and e.status = 'enabled'
        and (v.type = any(e.events) or (v.type = '${TEST_EVENT}' and exists (
              select 1 from webhook_dispatches d where d.event_id = v.id and d.endpoint_id = e.id)))
      order by e.id for no key update of e
    ), again as (
      insert into webhook_dispatches as d (event_id, endpoint_id, due_at, trigger)
      select $1, endpoint_id, now(), 'manual' from takers
      on conflict (event_id, endpoint_id) do update set due_at = now(), trigger = 'manual', failures = 0
        where d.lease_until is null
    )
    select id, type, created_at, array(select endpoint_id from takers) as endpoint_ids from event`,
};

/** Oldest first, behind what is due already. */
const RECOVER: Statement = {
  name: 'webhooks.recover',
  text: `
    with given_up as (
      select event_id from webhook_dispatches
      where endpoint_id = $1 and delivered_at is null and due_at is null and lease_until is null
    ), failing as (
      select event_id from webhook_dispatches
      where endpoint_id = $1 and delivered_at is null and due_at is not null and failures > 0
    ), failed as (
      select event_id, row_number() over (order by event_id) as nth
      from (select * from given_up union all select * from failing) f join webhook_events v on v.id = f.event_id
      where v.created_at >= to_timestamp($2) and v.type <> '${TEST_EVENT}'
    ), again as (
      update webhook_dispatches d
      set due_at = now() - interval '1 second' + f.nth * interval '1 microsecond', trigger = 'manual', failures = 0
      from failed f where d.endpoint_id = $1 and d.event_id = f.event_id and d.lease_until is null
      returning 1
    )
    select count(*)::int as events from again`,
};

/** Sends on demand: always the event as it was, under its own id. */
@Injectable()
export class SendAgain {
  constructor(
    private readonly sql: Sql,
    private readonly bell: DeliverySignal,
  ) {}

  async test(
    endpointId: string,
    event: { id: string; apiKeyId: string; body: string; createdAt: Date; retentionS: number },
  ): Promise<void> {
    const { id, apiKeyId, body, createdAt, retentionS } = event;
    await this.sql.run(TEST, [id, apiKeyId, body, createdAt, retentionS, endpointId]);
    this.bell.notify([endpointId]);
  }

  /** null when the key has no such event. */
  async redeliver(apiKeyId: string, eventId: string): Promise<ResentEvent | null> {
    const [event] = await this.sql.run<ResentEvent>(REDELIVER, [eventId, apiKeyId]);
    if (!event) return null;
    this.bell.notify(event.endpoint_ids);
    return event;
  }

  /**
   * All events since then that the endpoint has not got, nor is getting.
   * @param since unix seconds
   * @returns how many
   */
  async recover(endpointId: string, since: number): Promise<number> {
    const [done] = await this.sql.run<{ events: number }>(RECOVER, [endpointId, since]);
    this.bell.notify([endpointId]);
    return done?.events ?? 0;
  }
}
