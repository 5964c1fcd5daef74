import type { Statement } from '../../platform/database/sql.ts';
import type { DeliveryTrigger } from '../deliveries/webhook-delivery.entity.ts';
import { freePlaces } from './free-places.ts';

/** One attempt that this process is to make, with all it needs. */
export interface ClaimedDispatch {
  event_id: string;
  body: string;
  endpoint_id: string;
  url: string;
  /** Sealed. */
  secret: Buffer;
  /** Sealed; null when it signs no longer. */
  old_secret: Buffer | null;
  attempt: number;
  /** Failed attempts of the schedule before this one. */
  failures: number;
  trigger: DeliveryTrigger;
  /** By the database's clock. */
  attempted_at: Date;
  /** The endpoint has done nothing but fail lately. */
  probe: boolean;
}

/**
 * Takes what is due, as far as its endpoint has places. The endpoints are locked by a statement before it: only then does its
 * snapshot show what the claim before took. $2 attempts in all, $3 of them at endpoints that fail, $4 seconds of lease.
 */
export const CLAIM: Statement = {
  name: 'webhooks.claim',
  text: `
    with places as (
      select e.id, e.status, e.failing_since is not null as failing, ${freePlaces('e')} as free
      from webhook_endpoints e where e.id = any($1::text[])
    ), due as (
      select d.event_id, d.endpoint_id, p.failing, d.due_at,
             row_number() over (partition by p.failing order by d.due_at) as place
      from places p, lateral (
        select event_id, endpoint_id, due_at from webhook_dispatches
        where endpoint_id = p.id and due_at <= now() and (p.status = 'enabled' or trigger = 'test')
        order by due_at limit greatest(p.free, 0)) d
    ), granted as (
      select * from due where not failing or place <= $3 order by failing, due_at limit $2
    ), claimed as (
      update webhook_dispatches d
      set attempt = d.attempt + 1, due_at = null, lease_until = now() + make_interval(secs => $4)
      from granted g where d.event_id = g.event_id and d.endpoint_id = g.endpoint_id and d.due_at is not null
      returning d.*, g.failing
    )
    select c.event_id, v.body, c.endpoint_id, e.url, e.secret,
           case when e.old_secret_until > now() then e.old_secret end as old_secret, c.attempt, c.failures, c.trigger,
           now() as attempted_at, c.failing as probe
    from claimed c join webhook_events v on v.id = c.event_id join webhook_endpoints e on e.id = c.endpoint_id`,
};
