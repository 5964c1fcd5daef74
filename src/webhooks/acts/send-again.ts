import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { deliverJob } from '../deliver.job.ts';
import { type AnyEventType, TEST_EVENT } from '../event-type.ts';

export interface ResentEvent {
  id: string;
  type: AnyEventType;
  created_at: Date;
  /** How many endpoints get it. */
  endpoints: number;
}

/** One job for an endpoint is enough: what an attempt leaves waiting is looked at when it ends. */
const jobsFor = (endpointIds: string): string => `
    (select count(*) from graphile_worker.add_jobs(coalesce((
       select array_agg(row('${deliverJob.name}', json_build_object('endpointId', endpoint_id), null, null, null, null,
                            null, null)::graphile_worker.job_spec) from (${endpointIds}) looked), '{}')))`;

/** A test goes before all that waits, since somebody sits and looks at it; a disabled endpoint can be tested too. */
const TEST: Statement = {
  name: 'webhooks.test',
  text: `
    with event as (
      insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
      select $1, $2, '${TEST_EVENT}', $3, $4::timestamptz, $4::timestamptz + make_interval(secs => $5)
      returning id
    ), dispatch as (
      insert into webhook_dispatches (event_id, endpoint_id, due_at, trigger)
      select id, $6, to_timestamp(0), 'test' from event returning endpoint_id
    )
    select ${jobsFor('select endpoint_id from dispatch')} as jobs`,
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
    select id, type, created_at, (select count(*) from takers)::int as endpoints,
           ${jobsFor('select endpoint_id from takers')} as jobs
    from event`,
};

/** Oldest first, behind what is due already. */
const RECOVER: Statement = {
  name: 'webhooks.recover',
  text: `
    with failed as (
      select d.event_id, row_number() over (order by d.event_id) as nth
      from webhook_dispatches d join webhook_events v on v.id = d.event_id
      where d.endpoint_id = $1 and d.delivered_at is null and d.lease_until is null
        and (d.due_at is null or d.failures > 0) and v.created_at >= to_timestamp($2) and v.type <> '${TEST_EVENT}'
    ), again as (
      update webhook_dispatches d
      set due_at = now() - interval '1 second' + f.nth * interval '1 microsecond', trigger = 'manual', failures = 0
      from failed f where d.endpoint_id = $1 and d.event_id = f.event_id and d.lease_until is null
      returning d.endpoint_id
    )
    select (select count(*) from again)::int as events,
           ${jobsFor('select distinct endpoint_id from again')} as jobs`,
};

/** Sends on demand: always the event as it was, under its own id. */
@Injectable()
export class SendAgain {
  constructor(private readonly sql: Sql) {}

  async test(
    endpointId: string,
    event: { id: string; apiKeyId: string; body: string; createdAt: Date; retentionS: number },
  ): Promise<void> {
    const { id, apiKeyId, body, createdAt, retentionS } = event;
    await this.sql.run(TEST, [id, apiKeyId, body, createdAt, retentionS, endpointId]);
  }

  /** null when the key has no such event. */
  async redeliver(apiKeyId: string, eventId: string): Promise<ResentEvent | null> {
    const [event] = await this.sql.run<ResentEvent>(REDELIVER, [eventId, apiKeyId]);
    return event ?? null;
  }

  /**
   * All events since then that the endpoint has not got, nor is getting.
   * @param since unix seconds
   * @returns how many
   */
  async recover(endpointId: string, since: number): Promise<number> {
    const [done] = await this.sql.run<{ events: number }>(RECOVER, [endpointId, since]);
    return done?.events ?? 0;
  }
}
