import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../../platform/database/sql.ts';
import type { DisabledReason, EndpointStatus } from '../../../webhooks/record/webhook-endpoint.entity.ts';
import type { DeliveryError } from '../../../webhooks/record/webhook-delivery.entity.ts';

/** Events of an endpoint are counted up to this number, because a larger one tells an operator nothing more. */
const MOST_COUNTED = 10_000;

/** An endpoint that its owner or the operator should look at. */
export interface TroubledEndpoint {
  id: string;
  api_key_id: string;
  url: string;
  status: EndpointStatus;
  disabled_reason: DisabledReason | null;
  failing_since: Date | null;
  /** Events that are not delivered, counted up to MOST_COUNTED. */
  undelivered: number;
  oldest_due_at: Date | null;
  last_attempted_at: Date | null;
  last_status_code: number | null;
  last_error: DeliveryError | null;
}

/**
 * Endpoints in trouble, with one index look-up for each endpoint and fact. An endpoint that its owner has disabled has
 * no `disabled_reason`, and is not in trouble.
 */
const TROUBLED: Statement = {
  name: 'webhooks.watch_endpoints',
  text: `
    select e.*, u.undelivered, d.due_at as oldest_due_at, l.attempted_at as last_attempted_at,
           l.status_code as last_status_code, l.error as last_error
    from (
      select id, api_key_id, url, status, disabled_reason, failing_since from webhook_endpoints
      where failing_since is not null or disabled_reason is not null
      order by failing_since nulls last, id limit $1
    ) e
      cross join lateral (
        select count(*)::int as undelivered from (
          select from webhook_dispatches where endpoint_id = e.id and delivered_at is null limit ${MOST_COUNTED}) n) u
      left join lateral (
        select due_at from webhook_dispatches
        where endpoint_id = e.id and due_at is not null order by due_at limit 1) d on true
      left join lateral (
        select attempted_at, status_code, error from webhook_deliveries
        where endpoint_id = e.id order by id desc limit 1) l on true
    order by e.failing_since nulls last, e.id`,
};

/** Raw SQL because of the look-ups by endpoint. */
@Injectable()
export class WatchEndpoints {
  constructor(private readonly sql: Sql) {}

  /** Endpoints that have failed for the longest time first, then those without `failing_since`. */
  troubled(limit: number): Promise<TroubledEndpoint[]> {
    return this.sql.run<TroubledEndpoint>(TROUBLED, [limit]);
  }
}
