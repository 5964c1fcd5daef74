import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { PAGE } from './stop-waiting.ts';
import { type AnyEventType, TEST_EVENT } from '../record/event-type.ts';

export interface ResentEvent {
  id: string;
  type: AnyEventType;
  created_at: Date;
  /** The endpoints that the event is sent to. */
  endpoint_ids: string[];
}

export interface TestEvent {
  id: string;
  apiKeyId: string;
  body: string;
  createdAt: Date;
  retentionS: number;
}

/**
 * Inserts a test event, unless the endpoint was deleted. The event is due before everything else at the endpoint,
 * because a person watches it. A disabled endpoint can be tested too.
 */
const TEST: Statement = {
  name: 'webhooks.test',
  text: `
    with endpoint as materialized (
      select id from webhook_endpoints where id = $6 for key share
    ), event as (
      insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
      select $1, $2, '${TEST_EVENT}', $3, $4::timestamptz, $4::timestamptz + make_interval(secs => $5) from endpoint
      returning id
    )
    insert into webhook_dispatches (event_id, endpoint_id, due_at, trigger)
    select event.id, endpoint.id, to_timestamp(0), 'test' from event, endpoint
    returning 1`,
};

/**
 * Sends an event again to every enabled endpoint that now subscribes to its type. A test event goes only to the
 * endpoint that it was made for. If $3 is an endpoint, all others are left out. If an attempt is in flight at an
 * endpoint, nothing is changed there: that attempt counts as the redelivery.
 */
const REDELIVER: Statement = {
  name: 'webhooks.redeliver',
  text: `
    with event as (
      select id, type, created_at from webhook_events where id = $1 and api_key_id = $2 and expires_at > now()
    ), subscribers as (
      select e.id as endpoint_id from webhook_endpoints e, event v
      where e.api_key_id = $2 and e.status = 'enabled' and ($3::text is null or e.id = $3)
        and (v.type = any(e.events) or (v.type = '${TEST_EVENT}' and (
              select 1 from webhook_dispatches d where d.event_id = v.id and d.endpoint_id = e.id) = 1))
      order by e.id for no key update of e
    ), requeued as (
      insert into webhook_dispatches as d (event_id, endpoint_id, due_at, trigger)
      select $1, endpoint_id, now(), 'manual' from subscribers
      on conflict (event_id, endpoint_id) do update set due_at = now(), trigger = 'manual', failures = 0
        where d.lease_until is null
    )
    select id, type, created_at, array(select endpoint_id from subscribers) as endpoint_ids from event`,
};

/**
 * Queues a page of the events that an endpoint has not accepted, behind those that have been due for more than a second,
 * and before newer ones.
 * @param waits SQL: which events, and that they are behind the last one of the page before
 * @param order SQL: the order of an index, so that a page reads no more than its rows
 */
const recover = (name: string, waits: string, order: string): Statement => ({
  name,
  text: `
    with page as materialized (
      select event_id, due_at from webhook_dispatches
      where endpoint_id = $1 and delivered_at is null and lease_until is null and ${waits}
      order by ${order} limit ${PAGE} for update skip locked
    ), failed as (
      select event_id, row_number() over (order by event_id) as nth
      from page p join webhook_events v on v.id = p.event_id
      where v.created_at >= to_timestamp($2) and v.expires_at > now() and v.type <> '${TEST_EVENT}'
    ), requeued as (
      update webhook_dispatches d
      set due_at = now() - interval '1 second' + f.nth * interval '1 microsecond', trigger = 'manual', failures = 0
      from failed f where d.endpoint_id = $1 and d.event_id = f.event_id
      returning 1
    ), last as (
      select due_at, event_id from page order by due_at desc, event_id desc limit 1
    )
    select (select count(*) from requeued)::int as events, (select count(*) from page)::int as read,
           coalesce((select due_at::text from last), '') as due_at, coalesce((select event_id from last), '') as event_id`,
});

const RECOVER_GIVEN_UP = recover('webhooks.recover given up', 'due_at is null and event_id > $3', 'event_id');
const RECOVER_FAILING = recover(
  'webhooks.recover failing',
  'due_at is not null and failures > 0 and (due_at, event_id) > ($4::timestamptz, $3)',
  'due_at, event_id',
);

/** The place of an event among those of its endpoint. */
interface Place {
  event_id: string;
  due_at: string;
}

/** The place is that of the last event that was read. */
interface RecoveredPage extends Place {
  /** How many events were queued. */
  events: number;
  read: number;
}

/**
 * Sends events on demand. A redelivered event keeps its body and id.
 * Raw SQL because each method is one atomic statement over several tables.
 */
@Injectable()
export class ResendEvents {
  constructor(private readonly sql: Sql) {}

  /** @returns false if the endpoint was deleted */
  async test(endpointId: string, event: TestEvent): Promise<boolean> {
    const { id, apiKeyId, body, createdAt, retentionS } = event;
    return (await this.sql.run(TEST, [id, apiKeyId, body, createdAt, retentionS, endpointId])).length > 0;
  }

  /**
   * @param endpointId null: all enabled endpoints that subscribe
   * @returns null when the key has no such event, or it has expired
   */
  async redeliver(apiKeyId: string, eventId: string, endpointId: string | null): Promise<ResentEvent | null> {
    const [event] = await this.sql.run<ResentEvent>(REDELIVER, [eventId, apiKeyId, endpointId]);
    return event ?? null;
  }

  /**
   * Sends again the events that the endpoint has not accepted and that were created from `since` on. Leaves out events
   * that are in flight, and events that are due and have not failed: they are sent anyway.
   * @param since unix seconds
   * @returns the number of events
   */
  async recover(endpointId: string, since: number): Promise<number> {
    // The failing ones first: an event that was given up may fail again before these pages are read.
    const failing = await inPages(({ event_id, due_at }) =>
      this.sql.run(RECOVER_FAILING, [endpointId, since, event_id, due_at]),
    );
    const givenUp = await inPages(({ event_id }) => this.sql.run(RECOVER_GIVEN_UP, [endpointId, since, event_id]));
    return failing + givenUp;
  }
}

/** @returns how many events were queued */
async function inPages(recoverPage: (last: Place) => Promise<RecoveredPage[]>): Promise<number> {
  let last: Place = { event_id: '', due_at: '-infinity' };
  for (let events = 0; ;) {
    const [page] = await recoverPage(last);
    events += page!.events;
    if (page!.read < PAGE) return events;
    last = page!;
  }
}
