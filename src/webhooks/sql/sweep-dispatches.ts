import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { deliveryLeaseS } from '../record/delivery-lease.ts';
import { newDeliveryId } from '../record/webhook-id.ts';
import { freeSlots } from './free-slots.ts';
import { keyIsActive } from './key-is-active.ts';
import { dueUntil, WAITING_ENDPOINTS } from './waiting-endpoints.ts';

/** The maximum number of rows in one statement. */
const MAX_ROWS = 500;

const LAPSED: Statement = {
  name: 'webhooks.lapsed',
  text: `select event_id, endpoint_id, attempt from webhook_dispatches where lease_until < now() limit $1`,
};

/**
 * Releases attempts whose process has died. Their result is unknown, so they do not count as failures of the retry
 * schedule. They are due again at once, except tests and attempts at disabled endpoints. The log shows them as broken
 * connections, as the receiver saw them. If the event or the endpoint was deleted, the dispatch is deleted too: it would
 * be found again and again, with nothing to send.
 */
const RELEASE: Statement = {
  name: 'webhooks.release_lapsed',
  text: `
    with found as (
      select * from json_to_recordset($1::json) as w(delivery_id text, event_id text, endpoint_id text, attempt int)
    ), lapsed as (
      select d.event_id, d.endpoint_id, d.lease_until, f.delivery_id, v.type,
             v.id is null or not exists (select from webhook_endpoints e where e.id = d.endpoint_id) as is_gone
      from found f join webhook_dispatches d using (event_id, endpoint_id, attempt)
        left join webhook_events v on v.id = d.event_id
      where d.lease_until < now() for update of d skip locked
    ), gone as (
      delete from webhook_dispatches d using lapsed l
      where l.is_gone and d.event_id = l.event_id and d.endpoint_id = l.endpoint_id
    ), released as (
      update webhook_dispatches d
      set lease_until = null, due_at = case when d.trigger <> 'test' and e.status = 'enabled' then now() end
      from lapsed l join webhook_endpoints e on e.id = l.endpoint_id
      where not l.is_gone and d.event_id = l.event_id and d.endpoint_id = l.endpoint_id
      returning d.*, l.type, l.delivery_id, l.lease_until - make_interval(secs => $2) as attempted_at
    ), logged as (
      insert into webhook_deliveries (id, endpoint_id, event_id, event_type, attempt, trigger, attempted_at, duration_ms, error,
                                      next_attempt_at)
      select r.delivery_id, r.endpoint_id, r.event_id, r.type, r.attempt, r.trigger, r.attempted_at,
             1000 * extract(epoch from now() - r.attempted_at), 'connect_failed', r.due_at
      from released r
      on conflict (event_id, endpoint_id, attempt) do update
        set duration_ms = excluded.duration_ms, error = excluded.error, next_attempt_at = excluded.next_attempt_at
        where webhook_deliveries.duration_ms is null
    )
    select distinct endpoint_id as id from released where due_at is not null`,
};

/** The most rows without an endpoint that one statement deletes. */
const MAX_ORPHANS = 1_000;

/**
 * Endpoints that have something due and a free slot, and whose key is not revoked. Deletes what is due at endpoints that
 * were deleted: a process of an earlier release, or one that stopped during the deletion, may have left it.
 */
const DUE: Statement = {
  name: 'webhooks.due',
  text: `
    with recursive ${WAITING_ENDPOINTS}, gone as materialized (
      select endpoint_id from waiting w
      where endpoint_id is not null and not exists (select from webhook_endpoints e where e.id = w.endpoint_id)
    ), deleted as (
      delete from webhook_dispatches where ctid = any(array(
        select d.ctid from gone g, lateral (
          select ctid from webhook_dispatches where endpoint_id = g.endpoint_id and due_at is not null
          limit ${MAX_ORPHANS} for update skip locked) d limit ${MAX_ORPHANS}))
    )
    select e.id from waiting w join webhook_endpoints e on e.id = w.endpoint_id
    where exists (select 1 from webhook_dispatches d where d.endpoint_id = e.id and d.due_at <= ${dueUntil('e')})
      and ${freeSlots('e')} > 0 and ${keyIsActive('e')}`,
};

/**
 * The statements that workers run periodically. Raw SQL because they skip locked rows, recurse, or write several tables
 * at once.
 */
@Injectable()
export class SweepDispatches {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** @returns ids of the endpoints to poll */
  async due(): Promise<string[]> {
    return (await this.sql.run<{ id: string }>(DUE)).map(({ id }) => id);
  }

  /** @returns ids of the endpoints to poll */
  async releaseLapsed(): Promise<string[]> {
    const lapsed = await this.sql.run<object>(LAPSED, [MAX_ROWS]);
    if (lapsed.length === 0) return [];
    const found = lapsed.map((dispatch) => ({ ...dispatch, delivery_id: newDeliveryId() }));
    const released = await this.sql.run<{ id: string }>(RELEASE, [JSON.stringify(found), deliveryLeaseS(this.config)]);
    return released.map(({ id }) => id);
  }
}
