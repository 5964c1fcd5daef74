import { Injectable } from '@nestjs/common';
import type { Statement, Tx } from '../../platform/database/sql.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import type { EventType } from '../record/event-type.ts';
import { keyIsActive } from './key-is-active.ts';

export interface NewEvent {
  id: string;
  api_key_id: string;
  /** null for an event that is not about a task. */
  task_id: string | null;
  type: EventType;
  body: string;
  created_at: Date;
  expires_at: Date;
  /** Whether the deliveries of the event are held: they are then sent only on demand. */
  held?: boolean;
}

/**
 * The event types that the endpoints of these keys subscribe to. Reads one range of an index, which nearly always has
 * no row. A revoked key receives no events, so its endpoints do not count.
 */
const SUBSCRIPTIONS: Statement = {
  name: 'webhooks.taken',
  text: `
    select distinct e.api_key_id || ' ' || unnest(e.events) as subscription
    from webhook_endpoints e where e.api_key_id = any($1::text[]) and ${keyIsActive('e')}`,
};

/**
 * Inserts the events and dispatches of many ended tasks in one statement, because every transaction that ends tasks
 * runs it. The row of a dispatch is also its entry in the queue. A disabled endpoint gets a dispatch too, without a due
 * time: `recover` can send it once the endpoint is enabled again. Only the deletion of an endpoint conflicts with the
 * lock. An endpoint that is being deleted is skipped: the end of a task must not wait for the deletion or fail with it.
 */
const insertEvents = (name: string, traceParent: string): Statement => ({
  name,
  text: `
    with new_events as (
      select * from json_to_recordset($1::json) as n(
        id text, api_key_id text, task_id text, type text, body text, created_at timestamptz, expires_at timestamptz, held boolean)
    ), subscribers as (
      select n.id as event_id, e.id as endpoint_id, e.status = 'enabled' and n.held is not true as enabled
      from new_events n join webhook_endpoints e on e.api_key_id = n.api_key_id and n.type = any(e.events)
      for key share of e skip locked
    ), events as (
      insert into webhook_events (id, api_key_id, task_id, type, body, created_at, expires_at, trace_parent)
      select id, api_key_id, task_id, type, body, created_at, expires_at, ${traceParent} from new_events n
      where id in (select event_id from subscribers)
    ), dispatches as (
      insert into webhook_dispatches (event_id, endpoint_id, due_at)
      select event_id, endpoint_id, case when enabled then now() end from subscribers
    )
    select distinct endpoint_id as id from subscribers where enabled`,
});

const INSERT_EVENTS = insertEvents('webhooks.dispatch', 'null');
/**
 * Reads the `trace_parent` of the task too. Used only while traces are on, so that traces cost nothing while they are
 * off.
 */
const INSERT_TRACED_EVENTS = insertEvents(
  'webhooks.dispatch_traced',
  '(select t.trace_parent from tasks t where t.id = n.task_id)',
);

/** Statements that run inside the transaction that causes the events. */
@Injectable()
export class InsertEvents {
  /** @returns the subscriptions of these keys, each as `<key> <event type>` */
  async subscriptions(tx: Tx, apiKeyIds: string[]): Promise<Set<string>> {
    const { rows } = await tx.query<{ subscription: string }>({ ...SUBSCRIPTIONS, values: [apiKeyIds] });
    return new Set(rows.map(({ subscription }) => subscription));
  }

  /** @returns ids of the endpoints that have something due */
  async insert(tx: Tx, events: NewEvent[]): Promise<string[]> {
    const { rows } = await tx.query<{ id: string }>(this.statement(events));
    return rows.map(({ id }) => id);
  }

  /** @returns a statement whose rows are the ids of the endpoints that have something due */
  statement(events: NewEvent[]): Statement & { values: unknown[] } {
    return { ...(traces.isOn ? INSERT_TRACED_EVENTS : INSERT_EVENTS), values: [JSON.stringify(events)] };
  }
}
