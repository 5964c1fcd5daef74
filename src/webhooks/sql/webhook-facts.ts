import { inUtc } from '../../platform/database/planner.ts';
import type { Fact } from '../../platform/database/database-facts.ts';
import type { Statement } from '../../platform/database/sql.ts';
import { WAITING_ENDPOINTS } from './waiting-endpoints.ts';

/**
 * The maximum number of dispatches that are counted in each state. A higher number would tell an operator nothing more.
 */
export const MOST_COUNTED = 10_000;

export interface WebhookCounts {
  due: number;
  waiting: number;
  under_way: number;
  /** Seconds; null: nothing is due. */
  oldest_due: number | null;
  enabled: number;
  failing: number;
  disabled: number;
}

const count = (condition: string): string =>
  `(select count(*)::float8 from (select from webhook_dispatches where ${condition} limit ${MOST_COUNTED}) d)`;

/** Counts deliveries and endpoints. Finds the oldest due dispatch with one index look-up for each waiting endpoint. */
export const WEBHOOK_FACT: Fact<WebhookCounts> = {
  name: 'webhooks',
  text: `
    with recursive ${WAITING_ENDPOINTS}, first as (
      select (select due_at from webhook_dispatches d
              where d.endpoint_id = w.endpoint_id and due_at is not null order by due_at limit 1) as due_at
      from waiting w where w.endpoint_id is not null
    )
    select ${count('due_at <= now()')} as due, ${count('due_at > now()')} as waiting,
           ${count('lease_until is not null')} as under_way,
           (select extract(epoch from now() - min(due_at))::float8 from first where due_at <= now()) as oldest_due,
           (count(*) filter (where status = 'enabled' and failing_since is null))::float8 as enabled,
           (count(*) filter (where status = 'enabled' and failing_since is not null))::float8 as failing,
           (count(*) filter (where status = 'disabled'))::float8 as disabled
    from webhook_endpoints`,
};

/** The statement of WEBHOOK_FACT, for a request of an operator. */
export const WATCH_COUNTS: Statement = { name: 'webhooks.watch_counts', text: WEBHOOK_FACT.text };

interface ExpiredEventRow {
  /** Seconds since the oldest event expired; 0 if none has expired, null if there are no events. */
  events: number | null;
}

export const EXPIRED_EVENT_FACT: Fact<ExpiredEventRow> = {
  name: 'expired_events',
  text: `
    select (select greatest(0, extract(epoch from now() - expires_at))::float8 from webhook_events
            order by ${inUtc('expires_at')} limit 1) as events`,
};
