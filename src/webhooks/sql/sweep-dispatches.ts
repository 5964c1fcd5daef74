import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { deliveryLeaseS } from '../deliveries/delivery-lease.ts';
import { newDeliveryId } from '../webhook-id.ts';
import { freePlaces } from './free-places.ts';

/** Rows of one look. */
const SWEEP_ROWS = 500;

const LAPSED: Statement = {
  name: 'webhooks.lapsed',
  text: `select event_id, endpoint_id, attempt from webhook_dispatches where lease_until < now() limit $1`,
};

/**
 * Attempts whose process is gone: due again at once, without using up the schedule, for nobody knows how they went. In the
 * log they count as broken connections, which they were to the receiver.
 */
const RELEASE: Statement = {
  name: 'webhooks.release_lapsed',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(delivery_id text, event_id text, endpoint_id text, attempt int)
    ), lapsed as (
      select d.event_id, d.endpoint_id, d.lease_until, w.delivery_id
      from wanted w join webhook_dispatches d using (event_id, endpoint_id, attempt)
      where d.lease_until < now() for update of d skip locked
    ), again as (
      update webhook_dispatches d
      set lease_until = null, due_at = case when d.trigger <> 'test' and e.status = 'enabled' then now() end
      from lapsed l join webhook_endpoints e on e.id = l.endpoint_id
      where d.event_id = l.event_id and d.endpoint_id = l.endpoint_id
      returning d.*, l.delivery_id, l.lease_until - make_interval(secs => $2) as attempted_at
    ), logged as (
      insert into webhook_deliveries (id, endpoint_id, event_id, event_type, attempt, trigger, attempted_at, duration_ms, error,
                                      next_attempt_at)
      select a.delivery_id, a.endpoint_id, a.event_id, v.type, a.attempt, a.trigger, a.attempted_at,
             1000 * extract(epoch from now() - a.attempted_at), 'connect_failed', a.due_at
      from again a join webhook_events v on v.id = a.event_id
      on conflict (event_id, endpoint_id, attempt) do update
        set duration_ms = excluded.duration_ms, error = excluded.error, next_attempt_at = excluded.next_attempt_at
        where webhook_deliveries.duration_ms is null
    )
    select distinct endpoint_id as id from again where due_at is not null`,
};

/** Endpoints that have something due and a place for it: from one that has something waiting to the next, however much it is. */
const DUE: Statement = {
  name: 'webhooks.due',
  text: `
    with recursive waiting as (
      (select endpoint_id from webhook_dispatches where due_at is not null order by endpoint_id limit 1)
      union all
      select (select d.endpoint_id from webhook_dispatches d
              where d.due_at is not null and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1)
      from waiting w where w.endpoint_id is not null
    )
    select e.id from waiting w join webhook_endpoints e on e.id = w.endpoint_id
    where exists (select 1 from webhook_dispatches d where d.endpoint_id = e.id and d.due_at <= now())
      and ${freePlaces('e')} > 0`,
};

/** Cascades to dispatches and deliveries. */
const PURGE: Statement = {
  name: 'webhooks.purge',
  text: `delete from webhook_events where id in (select id from webhook_events where expires_at < now() limit $1)
         returning id`,
};

@Injectable()
export class SweepDispatches {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** @returns ids of the endpoints to look at */
  async due(): Promise<string[]> {
    return (await this.sql.run<{ id: string }>(DUE)).map(({ id }) => id);
  }

  /** @returns ids of the endpoints to look at */
  async releaseLapsed(): Promise<string[]> {
    const lapsed = await this.sql.run<object>(LAPSED, [SWEEP_ROWS]);
    if (lapsed.length === 0) return [];
    const named = lapsed.map((dispatch) => ({ ...dispatch, delivery_id: newDeliveryId() }));
    const released = await this.sql.run<{ id: string }>(RELEASE, [JSON.stringify(named), deliveryLeaseS(this.config)]);
    return released.map(({ id }) => id);
  }

  /** @returns whether there may be more */
  async purge(): Promise<boolean> {
    return (await this.sql.run(PURGE, [SWEEP_ROWS])).length === SWEEP_ROWS;
  }
}
