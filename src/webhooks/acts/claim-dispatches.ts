import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { AnyEventType } from '../event-type.ts';
import type { DeliveryTrigger } from '../webhook-delivery.entity.ts';
import { newDeliveryId } from '../webhook-id.ts';

/** One attempt that this process is to make, with all it needs. */
export interface ClaimedDispatch {
  delivery_id: string;
  event_id: string;
  event_type: AnyEventType;
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
  /** The endpoint has done nothing but fail lately. */
  probe: boolean;
}

/** Attempts at once at one endpoint, over all processes. */
const PER_ENDPOINT = 10;
/** What an attempt may take beyond WEBHOOK_TIMEOUT_MS before its process counts as lost. */
const LEASE_MARGIN_S = 5;

/** Asked first, without a lock: most looks find nothing. */
const DUE: Statement = {
  name: 'webhooks.due',
  text: `
    select id from unnest($1::text[]) as id
    where exists (select 1 from webhook_dispatches d where d.endpoint_id = id and d.due_at <= now())`,
};

/** Two claims for one endpoint come one after the other. Not "for update": ending tasks refer to these rows meanwhile. */
const LOCK: Statement = {
  name: 'webhooks.lock_endpoints',
  text: `select id from webhook_endpoints where id = any($1::text[]) order by id for no key update`,
};

/**
 * Takes what is due, as far as its endpoint has places: ten, or a single one while it fails, so a dead endpoint costs one
 * connection however long its backlog. A statement after the lock, for only then does its snapshot show what the claim
 * before took. The row of the attempt is written before the attempt is made.
 */
const CLAIM: Statement = {
  name: 'webhooks.claim',
  text: `
    with places as (
      select e.id, e.status, e.failing_since is not null as failing,
             case when e.failing_since is null then $2 else 1 end
             - (select count(*) from webhook_dispatches u where u.endpoint_id = e.id and u.lease_until > now()) as free
      from webhook_endpoints e where e.id = any($1::text[])
    ), due as (
      select d.event_id, d.endpoint_id, p.failing, d.due_at,
             row_number() over (partition by p.failing order by d.due_at) as place
      from places p, lateral (
        select event_id, endpoint_id, due_at from webhook_dispatches
        where endpoint_id = p.id and due_at <= now() and (p.status = 'enabled' or trigger = 'test')
        order by due_at limit greatest(p.free, 0)) d
    ), granted as (
      select *, row_number() over (order by failing, due_at) as nth from due where not failing or place <= $5
      order by failing, due_at limit $4
    ), claimed as (
      update webhook_dispatches d
      set attempt = d.attempt + 1, due_at = null, lease_until = now() + make_interval(secs => $6)
      from granted g where d.event_id = g.event_id and d.endpoint_id = g.endpoint_id and d.due_at is not null
      returning d.*, g.failing, g.nth
    ), begun as (
      insert into webhook_deliveries (id, endpoint_id, event_id, event_type, attempt, trigger, attempted_at)
      select ($3::text[])[c.nth], c.endpoint_id, c.event_id, v.type, c.attempt, c.trigger, now()
      from claimed c join webhook_events v on v.id = c.event_id
    )
    select ($3::text[])[c.nth] as delivery_id, c.event_id, v.type as event_type, v.body, c.endpoint_id, e.url, e.secret,
           case when e.old_secret_until > now() then e.old_secret end as old_secret, c.attempt, c.failures, c.trigger,
           c.failing as probe
    from claimed c join webhook_events v on v.id = c.event_id join webhook_endpoints e on e.id = c.endpoint_id`,
};

@Injectable()
export class ClaimDispatches {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /**
   * @param free attempts that this process can still make
   * @param probes how many of them at endpoints that fail
   */
  async claim(endpointIds: string[], free: number, probes: number): Promise<ClaimedDispatch[]> {
    const due = (await this.sql.run<{ id: string }>(DUE, [endpointIds])).map(({ id }) => id);
    const most = Math.min(free, due.length * PER_ENDPOINT);
    if (most <= 0) return [];
    const ids = Array.from({ length: most }, newDeliveryId);
    const leaseS = this.config.webhookTimeoutMs / 1000 + LEASE_MARGIN_S;
    return this.sql.transaction(async (tx) => {
      await tx.query({ ...LOCK, values: [due] });
      const values = [due, PER_ENDPOINT, ids, most, probes, leaseS];
      return (await tx.query<ClaimedDispatch>({ ...CLAIM, values })).rows;
    });
  }
}
