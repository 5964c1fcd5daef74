import type { Statement } from '../../platform/database/sql.ts';
import type { DeliveryTrigger } from '../record/webhook-delivery.entity.ts';
import { freeSlots, MAX_PER_ENDPOINT } from './free-slots.ts';
import { keyIsActive } from './key-is-active.ts';
import { dueUntil } from './waiting-endpoints.ts';

/** One attempt that this process must make, with everything that the attempt needs. */
export interface ClaimedDispatch {
  event_id: string;
  body: string;
  /** The `trace_parent` of the event; null if it has none. */
  trace_parent: string | null;
  endpoint_id: string;
  url: string;
  /** The sealed secret. */
  secret: Buffer;
  /** The sealed earlier secret; null when it does not sign any more. */
  old_secret: Buffer | null;
  attempt: number;
  /** Failed attempts of the schedule before this one. */
  failures: number;
  trigger: DeliveryTrigger;
  /** The start of the attempt, by the database's clock. */
  attempted_at: Date;
  /** Seconds since `created_at` of the event. */
  lag_s: number;
  /** Whether the endpoint is failing: it has failed since its last success. */
  probe: boolean;
}

/**
 * Claims due dispatches, as far as their endpoints have free slots. Raw SQL because it runs often and is one statement
 * of several CTEs.
 * Reads the key of each endpoint again, because the endpoints of a revoked key receive nothing.
 * An earlier statement must have locked the endpoints: only then does the snapshot of this one contain the previous
 * claims.
 * Parameters: $1: the endpoints. $2: the maximum number of attempts. $3: the maximum at failing endpoints. $4: an
 * endpoint with an attempt in flight gets a further one only if fewer than $4 attempts at healthy endpoints are claimed
 * before it. $5: a failing endpoint gets an attempt only if fewer than $5 attempts are claimed before it. $6: seconds
 * of the lease.
 */
export const CLAIM: Statement = {
  name: 'webhooks.claim',
  text: `
    with slots as (
      select e.id, e.status, e.failing_since is not null as failing, ${freeSlots('e')} as free
      from webhook_endpoints e where e.id = any($1::text[]) and ${keyIsActive('e')}
    ), due as (
      select d.event_id, d.endpoint_id, s.failing, d.due_at,
             not s.failing and (s.free < ${MAX_PER_ENDPOINT} or row_number() over (partition by s.id order by d.due_at) > 1) as further
      from slots s, lateral (
        select event_id, endpoint_id, due_at from webhook_dispatches
        where endpoint_id = s.id and due_at <= ${dueUntil('s')} and (s.status = 'enabled' or trigger = 'test')
        order by due_at limit greatest(s.free, 0)) d
    ), ordered as (
      select *, row_number() over (partition by failing order by further, due_at) as nth from due
    ), healthy as (
      select * from ordered where not failing and nth <= case when further then least($2::int, $4::int) else $2::int end
    ), granted as (
      select * from healthy union all
      select * from ordered where failing and nth <= least($3::int, $5::int - (select count(*) from healthy))
    ), claimed as (
      update webhook_dispatches d
      set attempt = d.attempt + 1, due_at = null, lease_until = now() + make_interval(secs => $6)
      from granted g where d.event_id = g.event_id and d.endpoint_id = g.endpoint_id and d.due_at is not null
      returning d.*, g.failing
    )
    select c.event_id, v.body, v.trace_parent, c.endpoint_id, e.url, e.secret,
           case when e.old_secret_until > now() then e.old_secret end as old_secret, c.attempt, c.failures, c.trigger,
           now() as attempted_at, extract(epoch from now() - v.created_at)::float8 as lag_s, c.failing as probe
    from claimed c join webhook_events v on v.id = c.event_id join webhook_endpoints e on e.id = c.endpoint_id`,
};
