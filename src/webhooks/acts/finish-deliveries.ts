import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { deliverJob } from '../deliver.job.ts';
import type { DeliveryError } from '../webhook-delivery.entity.ts';

/** How an attempt went. */
export interface FinishedDelivery {
  delivery_id: string;
  event_id: string;
  endpoint_id: string;
  attempt: number;
  /** `lost`: this process stops before the answer came; another makes the next attempt at once. */
  outcome: 'delivered' | 'failed' | 'lost';
  /** Seconds to the next attempt; null for the last. */
  retry_in_s: number | null;
  status_code: number | null;
  error: DeliveryError | null;
  duration_ms: number;
  response_snippet: string | null;
}

/**
 * The end of many attempts: dispatch, log and endpoint in one statement, with the jobs of what is tried again. Names the
 * attempt, so one that outlived its lease changes nothing but its own line in the log. A success ends the endpoint's
 * failing; 410, or failing for too long, disables it. Tests count for neither.
 */
const FINISH: Statement = {
  name: 'webhooks.finish',
  text: `
    with told as (
      select * from json_to_recordset($1::json) as t(
        delivery_id text, event_id text, endpoint_id text, attempt int, outcome text, retry_in_s float8,
        status_code int, error text, duration_ms int, response_snippet text)
    ), endpoints as (
      select id, status from webhook_endpoints where id in (select endpoint_id from told) order by id for no key update
    ), ended as (
      update webhook_dispatches d
      set lease_until = null,
          delivered_at = case when t.outcome = 'delivered' then now() else d.delivered_at end,
          failures = d.failures + (t.outcome = 'failed')::int,
          due_at = case when d.trigger = 'test' or t.outcome = 'delivered' or t.status_code = 410 or e.status = 'disabled'
                        then null
                        when t.outcome = 'lost' then now() else now() + make_interval(secs => t.retry_in_s) end,
          trigger = case when t.outcome = 'failed' and d.trigger = 'manual' then 'scheduled' else d.trigger end
      from told t, endpoints e
      where d.event_id = t.event_id and d.endpoint_id = t.endpoint_id and d.attempt = t.attempt
        and e.id = d.endpoint_id and d.lease_until is not null
      returning d.event_id, d.endpoint_id, d.due_at, d.trigger, t.outcome, t.status_code, t.delivery_id
    ), logged as (
      update webhook_deliveries l
      set duration_ms = t.duration_ms, status_code = t.status_code, error = t.error,
          response_snippet = t.response_snippet, next_attempt_at = e.due_at
      from told t left join ended e using (delivery_id)
      where l.id = t.delivery_id
    ), judged as (
      select endpoint_id, bool_or(outcome = 'delivered') as alive,
             bool_or(outcome = 'failed' and trigger <> 'test') as failed,
             bool_or(status_code = 410 and trigger <> 'test') as gone
      from ended group by endpoint_id
    ), marked as (
      update webhook_endpoints w
      set failing_since = case when j.alive then null else coalesce(w.failing_since, now()) end,
          status = case when j.gone or worn then 'disabled' else w.status end,
          disabled_reason = case when w.status = 'disabled' then w.disabled_reason
                                 when j.gone then 'gone' when worn then 'failing' end
      from judged j join endpoints e on e.id = j.endpoint_id join webhook_endpoints o on o.id = j.endpoint_id,
           lateral (select not j.alive and j.failed
                    and coalesce(o.failing_since, now()) <= now() - make_interval(secs => $2) as worn) w2
      where w.id = j.endpoint_id and (j.gone or (j.alive and w.failing_since is not null) or (j.failed and not j.alive))
      returning w.id, w.status
    )
    select (select coalesce(array_agg(id), '{}') from marked where status = 'disabled') as disabled,
           (select count(*) from graphile_worker.add_jobs(coalesce((
              select array_agg(row('${deliverJob.name}', json_build_object('endpointId', endpoint_id), null, due_at, null,
                                   null, null, null)::graphile_worker.job_spec)
              from ended where due_at is not null), '{}'))) as jobs`,
};

/** What waits for an endpoint that has been disabled: it stays, without a time, for `recover` to find. */
const STOP: Statement = {
  name: 'webhooks.stop',
  text: `
    with stopped as (
      update webhook_dispatches set due_at = null
      where endpoint_id = any($1::text[]) and due_at is not null and trigger <> 'test'
    )
    update webhook_deliveries set next_attempt_at = null where endpoint_id = any($1::text[]) and next_attempt_at > now()`,
};

const HOUR_S = 3600;

@Injectable()
export class FinishDeliveries {
  private readonly batch = new Batch<FinishedDelivery, void>((finished) => this.flush(finished), { maxItems: 200 });

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  finish(finished: FinishedDelivery): Promise<void> {
    return this.batch.add(finished);
  }

  private async flush(finished: FinishedDelivery[]): Promise<void[]> {
    const values = [JSON.stringify(finished), this.config.webhookDisableAfterHours * HOUR_S];
    const [done] = await this.sql.run<{ disabled: string[] }>(FINISH, values);
    if (done && done.disabled.length > 0) await this.sql.run(STOP, [done.disabled]);
    return finished.map(() => undefined);
  }
}
