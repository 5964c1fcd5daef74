import type { Statement } from '../../platform/database/sql.ts';
import type { DeliveryError, DeliveryTrigger } from '../deliveries/webhook-delivery.entity.ts';

/** How an attempt went. */
export interface FinishedDelivery {
  delivery_id: string;
  event_id: string;
  endpoint_id: string;
  attempt: number;
  trigger: DeliveryTrigger;
  attempted_at: Date;
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
 * The end of many attempts, whose endpoints are locked: dispatch, line in the log and endpoint in one statement. Names the
 * attempt, so one that outlived its lease changes nothing but its own line, which the sweep has written. A success ends the
 * endpoint's failing; 410, or failing for $2 seconds, disables it, and then it is answered. Tests count for neither. No index
 * of leases offers itself for the test of the lease: by it all that is under way at an endpoint would be read. Rows of a batch
 * are never joined with each other, which would cost their square.
 */
export const FINISH: Statement = {
  name: 'webhooks.finish',
  text: `
    with told as (
      select t.*, case when t.trigger = 'test' or t.outcome = 'delivered' or t.status_code = 410 or e.status = 'disabled' then null
                       when t.outcome = 'lost' then now()
                       else now() + make_interval(secs => t.retry_in_s) end as due_at
      from json_to_recordset($1::json) as t(
        delivery_id text, event_id text, endpoint_id text, attempt int, trigger text, attempted_at timestamptz, outcome text,
        retry_in_s float8, status_code int, error text, duration_ms int, response_snippet text)
      join webhook_endpoints e on e.id = t.endpoint_id
    ), ended as (
      update webhook_dispatches d
      set lease_until = null, due_at = t.due_at,
          delivered_at = case when t.outcome = 'delivered' then now() else d.delivered_at end,
          failures = d.failures + (t.outcome = 'failed')::int,
          trigger = case when t.outcome = 'failed' and d.trigger = 'manual' then 'scheduled' else d.trigger end
      from told t
      where d.event_id = t.event_id and d.endpoint_id = t.endpoint_id and d.attempt = t.attempt
        and d.lease_until + interval '0' is not null
      returning d.endpoint_id, t.trigger, t.outcome, t.status_code
    ), logged as (
      insert into webhook_deliveries (id, endpoint_id, event_id, event_type, attempt, trigger, attempted_at, duration_ms,
                                      status_code, error, response_snippet, next_attempt_at)
      select t.delivery_id, t.endpoint_id, t.event_id, v.type, t.attempt, t.trigger, t.attempted_at, t.duration_ms,
             t.status_code, t.error, t.response_snippet, t.due_at
      from told t join webhook_events v on v.id = t.event_id
      on conflict (event_id, endpoint_id, attempt) do update
        set duration_ms = excluded.duration_ms, status_code = excluded.status_code, error = excluded.error,
            response_snippet = excluded.response_snippet
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
      from judged j join webhook_endpoints o on o.id = j.endpoint_id,
           lateral (select not j.alive and j.failed
                    and coalesce(o.failing_since, now()) <= now() - make_interval(secs => $2) as worn) w2
      where w.id = j.endpoint_id and (j.gone or (j.alive and w.failing_since is not null) or (j.failed and not j.alive))
      returning w.id, w.status
    )
    select id from marked where status = 'disabled'`,
};

/** What waits for an endpoint that has been disabled: it stays, without a time, for `recover` to find. */
export const STOP: Statement = {
  name: 'webhooks.stop',
  text: `
    with stopped as (
      update webhook_dispatches set due_at = null
      where endpoint_id = any($1::text[]) and due_at is not null and trigger <> 'test'
    )
    update webhook_deliveries set next_attempt_at = null where endpoint_id = any($1::text[]) and next_attempt_at > now()`,
};
