import { Injectable } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import type { DeliveryFilter } from '../record/delivery-filter.ts';
import type { WebhookDelivery } from '../record/webhook-delivery.entity.ts';

/** An attempt, and the id of the task that its event is about. */
export type ListedDelivery = WebhookDelivery & { task_id: string | null };

interface PageOfDeliveries {
  limit: number;
  /** The id of the last attempt of the previous page. */
  after?: string | null | undefined;
}

const OUTCOMES: Record<NonNullable<DeliveryFilter['outcome']>, string> = {
  delivered: 'd.error is null and d.status_code is not null',
  failed: 'd.error is not null',
  // The attempt is the last one of its event at this endpoint so far, and another one will follow.
  waiting: `d.next_attempt_at is not null and exists (
    select 1 from webhook_dispatches w
     where w.event_id = d.event_id and w.endpoint_id = d.endpoint_id and w.attempt = d.attempt and w.due_at is not null)`,
};

/**
 * Pages through the attempts at an endpoint, newest first. The caller must have checked who owns the endpoint. Raw SQL
 * because it reads two tables, and because each set of filters is a statement of its own, which is planned each time.
 */
@Injectable()
export class ListDeliveries {
  constructor(private readonly sql: Sql) {}

  async ofEndpoint(endpointId: string, filter: DeliveryFilter, page: PageOfDeliveries): Promise<ListedDelivery[]> {
    const values: unknown[] = [endpointId, page.limit];
    const names: string[] = [];
    const conditions: string[] = [];
    const where = (name: string, value: unknown, condition: (placeholder: string) => string): void => {
      if (value === undefined || value === null) return;
      conditions.push(`and ${condition(`$${values.push(value)}`)}`);
      names.push(name);
    };
    where('after', page.after, (value) => `d.id < ${value}`);
    where('event', filter.event_id, (value) => `d.event_id = ${value}`);
    where('type', filter.event_type, (value) => `d.event_type = ${value}`);
    where('task', filter.task_id, (value) => `v.task_id = ${value}`);
    where('since', filter.since, (value) => `d.attempted_at >= to_timestamp(${value}::float8)`);
    where('until', filter.until, (value) => `d.attempted_at < to_timestamp(${value}::float8)`);
    if (filter.outcome) {
      conditions.push(`and ${OUTCOMES[filter.outcome]}`);
      names.push(filter.outcome);
    }
    const text = `
      select d.*, v.task_id from webhook_deliveries d join webhook_events v on v.id = d.event_id
       where d.endpoint_id = $1 and v.expires_at > now() ${conditions.join(' ')} order by d.id desc limit $2`;
    const name = ['webhooks.list', ...names].join(' ');
    return this.sql.run<ListedDelivery>({ name, text, isUnprepared: true }, values);
  }

  /** The attempts to send one event, newest first. */
  async ofEvent(eventId: string, limit: number): Promise<ListedDelivery[]> {
    const text = `
      select d.*, v.task_id from webhook_deliveries d join webhook_events v on v.id = d.event_id
       where d.event_id = $1 order by d.id desc limit $2`;
    return this.sql.run<ListedDelivery>({ name: 'webhooks.list_of_event', text }, [eventId, limit]);
  }
}
