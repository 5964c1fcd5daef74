import type { Statement } from '../../platform/database/sql.ts';
import type { DeliveryError, DeliveryTrigger } from '../record/webhook-delivery.entity.ts';

export interface FinishedDelivery {
  delivery_id: string;
  event_id: string;
  endpoint_id: string;
  attempt: number;
  url: string;
  /** Without the signature; null when the request could not be signed. */
  request_headers: Record<string, string> | null;
  trigger: DeliveryTrigger;
  attempted_at: Date;
  /** `lost`: this process stopped before the response arrived. The next attempt, if there is one, is due at once. */
  outcome: 'delivered' | 'failed' | 'lost';
  /** Seconds until the next attempt; null if this one did not fail, was a test, or was the last one of the schedule. */
  retry_in_s: number | null;
  status_code: number | null;
  error: DeliveryError | null;
  duration_ms: number;
  response_snippet: string | null;
}

/**
 * Records many finished attempts: dispatch, delivery log and endpoint in one statement. Raw SQL because it runs often
 * and is one statement of several CTEs.
 * An earlier statement must have locked the endpoints. A dispatch changes only if it still has the attempt that is
 * recorded. So an attempt that the sweep has released changes nothing but its own row in the log, which the sweep has
 * written.
 * A success clears `failing_since`. A response of 410, or failures for $2 seconds, disables the endpoint. A failed test
 * does not affect the health of the endpoint. The statement returns the ids of disabled endpoints.
 * `lease_until + interval '0'` keeps the planner off the partial index of leases on purpose: through that index it
 * would read every attempt in flight at the endpoint. The rows of a batch are never joined with each other, because
 * that would cost the square of their number.
 */
export const FINISH: Statement = {
  name: 'webhooks.finish',
  text: `
    with results as (
      select t.*, case when t.trigger = 'test' or t.outcome = 'delivered' or t.status_code = 410 or e.status = 'disabled' then null
                       when t.outcome = 'lost' then now()
                       else now() + make_interval(secs => t.retry_in_s) end as due_at
      from json_to_recordset($1::json) as t(
        delivery_id text, event_id text, endpoint_id text, attempt int, trigger text, attempted_at timestamptz, outcome text,
        retry_in_s float8, status_code int, error text, duration_ms int, response_snippet text, url text, request_headers jsonb)
      join webhook_endpoints e on e.id = t.endpoint_id
    ), ended as (
      update webhook_dispatches d
      set lease_until = null, due_at = t.due_at,
          delivered_at = case when t.outcome = 'delivered' then now() else d.delivered_at end,
          failures = d.failures + (t.outcome = 'failed')::int,
          trigger = case when t.outcome = 'failed' and d.trigger = 'manual' then 'scheduled' else d.trigger end
      from results t
      where d.event_id = t.event_id and d.endpoint_id = t.endpoint_id and d.attempt = t.attempt
        and d.lease_until + interval '0' is not null
      returning d.endpoint_id, t.trigger, t.outcome, t.status_code
    ), logged as (
      insert into webhook_deliveries (id, endpoint_id, event_id, event_type, attempt, trigger, attempted_at, duration_ms,
                                      status_code, error, response_snippet, next_attempt_at, url, request_headers)
      select t.delivery_id, t.endpoint_id, t.event_id, v.type, t.attempt, t.trigger, t.attempted_at, t.duration_ms,
             t.status_code, t.error, t.response_snippet, t.due_at, t.url, t.request_headers
      from results t join webhook_events v on v.id = t.event_id
      on conflict (event_id, endpoint_id, attempt) do update
        set duration_ms = excluded.duration_ms, status_code = excluded.status_code, error = excluded.error,
            response_snippet = excluded.response_snippet, url = excluded.url, request_headers = excluded.request_headers
    ), verdicts as (
      select endpoint_id, bool_or(outcome = 'delivered') as alive,
             bool_or(outcome = 'failed' and trigger <> 'test') as failed,
             bool_or(status_code = 410 and trigger <> 'test') as gone
      from ended group by endpoint_id
    ), marked as (
      update webhook_endpoints w
      set failing_since = case when j.alive then null else coalesce(w.failing_since, now()) end,
          status = case when j.gone or expired then 'disabled' else w.status end,
          disabled_reason = case when w.status = 'disabled' then w.disabled_reason
                                 when j.gone then 'gone' when expired then 'failing' end
      from verdicts j join webhook_endpoints o on o.id = j.endpoint_id,
           lateral (select not j.alive and j.failed
                    and coalesce(o.failing_since, now()) <= now() - make_interval(secs => $2) as expired) x
      where w.id = j.endpoint_id and (j.gone or (j.alive and w.failing_since is not null) or (j.failed and not j.alive))
      returning w.id, w.status
    )
    select id from marked where status = 'disabled'`,
};
