import { Injectable } from '@nestjs/common';
import type { Statement, Tx } from '../../platform/database/sql.ts';
import type { EventType } from '../events/event-type.ts';

export interface NewEvent {
  id: string;
  api_key_id: string;
  task_id: string;
  type: EventType;
  body: string;
  created_at: Date;
  expires_at: Date;
}

/** Which events these keys' endpoints take: one index scan, nearly always of nothing. */
const TAKEN: Statement = {
  name: 'webhooks.taken',
  text: `
    select distinct api_key_id || ' ' || unnest(events) as taken from webhook_endpoints where api_key_id = any($1::text[])`,
};

/**
 * Event and dispatches of many ended tasks in one statement; a dispatch is its own place in the queue. An endpoint that is
 * disabled gets its dispatch too, without a time: `recover` sends it once the endpoint is back.
 */
const DISPATCH: Statement = {
  name: 'webhooks.dispatch',
  text: `
    with news as (
      select * from json_to_recordset($1::json) as n(
        id text, api_key_id text, task_id text, type text, body text, created_at timestamptz, expires_at timestamptz)
    ), takers as (
      select n.id as event_id, e.id as endpoint_id, e.status = 'enabled' as enabled
      from news n join webhook_endpoints e on e.api_key_id = n.api_key_id and n.type = any(e.events)
    ), events as (
      insert into webhook_events (id, api_key_id, task_id, type, body, created_at, expires_at)
      select id, api_key_id, task_id, type, body, created_at, expires_at from news
      where id in (select event_id from takers)
    ), dispatches as (
      insert into webhook_dispatches (event_id, endpoint_id, due_at)
      select event_id, endpoint_id, case when enabled then now() end from takers
    )
    select distinct endpoint_id as id from takers where enabled`,
};

/** Inside the transaction that ends tasks. */
@Injectable()
export class DispatchEvents {
  /** @returns whether some endpoint of a key takes an event, as `<key> <event>` */
  async taken(tx: Tx, apiKeyIds: string[]): Promise<Set<string>> {
    const { rows } = await tx.query<{ taken: string }>({ ...TAKEN, values: [apiKeyIds] });
    return new Set(rows.map(({ taken }) => taken));
  }

  /** @returns the statement, which gives the endpoints for which something is due */
  dispatch(events: NewEvent[]): Statement & { values: unknown[] } {
    return { ...DISPATCH, values: [JSON.stringify(events)] };
  }
}
