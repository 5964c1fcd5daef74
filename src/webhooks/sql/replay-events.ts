import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { WebhookReplay } from '../record/webhook-replay.entity.ts';
import { TEST_EVENT } from '../record/event-type.ts';

/**
 * The maximum number of deliveries that replays queue in a second, in all processes together. The limit leaves room for
 * new events at the endpoints.
 */
const PER_S = 100;
/** The maximum number of events in one step. Each may go to several endpoints. */
const EVENTS_AT_ONCE = 100;
/**
 * The maximum number of events that one step reads. Without this limit, a replay for a quiet key would read a whole day
 * in one statement.
 */
const LOOKED_AT = 5_000;

/**
 * SQL: whether dispatch `d` of event `v` at endpoint `e` belongs to replay `r`. A dispatch that is in flight, or is due
 * and has not failed, does not belong to it, because it is sent anyway.
 */
const WANTED = `v.created_at >= r.since and v.created_at < r.until and v.expires_at > now() and v.type <> '${TEST_EVENT}'
        and (r.api_key_id is null or v.api_key_id = r.api_key_id)
        and (r.endpoint_id is null or d.endpoint_id = r.endpoint_id)
        and (not r.only_failed or d.delivered_at is null)
        and d.lease_until is null and (d.due_at is null or d.failures > 0) and e.status = 'enabled'`;

/**
 * SQL: the endpoint of dispatch `d`, found by its id. With a plain join, PostgreSQL may read all endpoints while it has
 * no statistics.
 */
const ITS_ENDPOINT = `cross join lateral (select * from webhook_endpoints where id = d.endpoint_id ${PLANNED_SEPARATELY}) e`;

/** How many deliveries a replay would send. */
const COUNT: Statement = {
  name: 'webhooks.count_replay',
  text: `
    with r as (
      select $1::timestamptz as since, $2::timestamptz as until, $3::text as endpoint_id, $4::text as api_key_id, $5::boolean as only_failed
    )
    select count(*)::int as total
    from r, webhook_events v join webhook_dispatches d on d.event_id = v.id join webhook_endpoints e on e.id = d.endpoint_id
    where v.id > $6 and v.id < $7 and ${WANTED}`,
};

/**
 * The number of newest replays whose `lease_until` a step looks at. Those that have just ended still make the others
 * wait.
 */
const NEWEST = 100;

/**
 * Queues the next deliveries of a replay, behind everything that is due already. Replays take turns, and the rows tell
 * all processes whose turn it is. So no two replays queue deliveries at the same time. When a replay has ended, the
 * others wait for the time that its last deliveries take.
 */
const STEP: Statement = {
  name: 'webhooks.replay',
  text: `
    with r as (
      select * from webhook_replays
      where id = (select id from webhook_replays where status = 'running' order by lease_until nulls first, id limit 1)
        and status = 'running' and (lease_until is null or lease_until <= now())
        and not exists (select from webhook_replays where status = 'running' and lease_until > now())
        and not exists (select from (select lease_until from webhook_replays order by id desc limit ${NEWEST}) latest
                        where lease_until > now())
      for update skip locked
    ), looked_at as (
      select v.id, v.type, v.api_key_id, v.created_at, v.expires_at from r, lateral (
        select * from webhook_events where id > r.last_event_id and id < r.until_event_id order by id limit ${LOOKED_AT}) v
    ), fitting as (
      select v.id from r, looked_at v where (
        select 1 from webhook_dispatches d ${ITS_ENDPOINT} where d.event_id = v.id and ${WANTED} limit 1) = 1
      order by v.id limit ${EVENTS_AT_ONCE}
    ), next as (
      select d.event_id, d.endpoint_id, row_number() over (order by d.event_id) as nth
      from r, fitting f join webhook_events v using (id)
        cross join lateral (select * from webhook_dispatches where event_id = f.id ${PLANNED_SEPARATELY}) d
        ${ITS_ENDPOINT}
      where ${WANTED}
    ), queued as (
      update webhook_dispatches d set due_at = now() + n.nth * interval '1 microsecond', trigger = 'manual', failures = 0
      from next n
      where d.event_id = any(array(select event_id from next)) and d.event_id = n.event_id and d.endpoint_id = n.endpoint_id and d.lease_until is null
      returning d.endpoint_id
    ), progress as (
      select (select count(*) from queued)::int as queued, (select count(*) from fitting) as events,
             (select count(*) from looked_at) as seen, (select max(id) from fitting) as last_fitting,
             (select max(id) from looked_at) as last_seen
    ), noted as (
      update webhook_replays w
      set queued = w.queued + p.queued,
          last_event_id = case when p.events = ${EVENTS_AT_ONCE} then p.last_fitting else coalesce(p.last_seen, w.last_event_id) end,
          lease_until = now() + p.queued * interval '1 second' / ${PER_S},
          status = case when p.events < ${EVENTS_AT_ONCE} and p.seen < ${LOOKED_AT} then 'completed' else w.status end,
          ended_at = case when p.events < ${EVENTS_AT_ONCE} and p.seen < ${LOOKED_AT} then now() end
      from progress p, r where w.id = r.id
      returning w.id
    )
    select (select count(*)::int from noted) as replays, array(select distinct endpoint_id from queued) as endpoint_ids`,
};

/** The fields of a replay that select its events. */
export type ReplayBounds = Pick<
  WebhookReplay,
  'since' | 'until' | 'endpoint_id' | 'api_key_id' | 'only_failed' | 'last_event_id' | 'until_event_id'
>;

/** Raw SQL because each step is one atomic statement over four tables. */
@Injectable()
export class ReplayEvents {
  constructor(private readonly sql: Sql) {}

  async count(bounds: ReplayBounds): Promise<number> {
    const { since, until, endpoint_id, api_key_id, only_failed, last_event_id, until_event_id } = bounds;
    const values = [since, until, endpoint_id, api_key_id, only_failed, last_event_id, until_event_id];
    const [row] = await this.sql.run<{ total: number }>(COUNT, values);
    return row!.total;
  }

  /** Queues the next events of a replay, if the turn of one has come. @returns null when it has not */
  async step(): Promise<{ endpointIds: string[] } | null> {
    const [row] = await this.sql.run<{ replays: number; endpoint_ids: string[] }>(STEP);
    return row!.replays > 0 ? { endpointIds: row!.endpoint_ids } : null;
  }
}

/** Cancels a running replay. A replay that has ended stays as it is. @returns null when there is no such replay */
export async function cancelReplay(
  tx: EntityManager,
  id: string,
): Promise<{ replay: WebhookReplay; isCancelled: boolean } | null> {
  const [rows] = await tx.query<[WebhookReplay[], number]>(
    `update webhook_replays set status = 'cancelled', ended_at = now() where id = $1 and status = 'running' returning *`,
    [id],
  );
  if (rows[0]) return { replay: rows[0], isCancelled: true };
  const [replay] = await tx.query<WebhookReplay[]>('select * from webhook_replays where id = $1', [id]);
  return replay ? { replay, isCancelled: false } : null;
}
