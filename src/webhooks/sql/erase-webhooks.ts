import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import type { ErasureWork } from '../../auth/erasure/erasure-work.ts';
import { readThrough } from '../../auth/erasure/read-through.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SEE_EVENTS } from './see-events.ts';

/** The maximum number of deliveries in one piece. */
const DELIVERIES = 2_000;

const DELETE_DELIVERIES: Statement = {
  name: 'webhooks.erase_deliveries',
  text: 'delete from webhook_deliveries d using unnest($1::text[]) as w(id) where d.event_id = w.id',
};
const DELETE_DISPATCHES: Statement = {
  name: 'webhooks.erase_dispatches',
  text: 'delete from webhook_dispatches d using unnest($1::text[]) as w(id) where d.event_id = w.id',
};
const DELETE_EVENTS: Statement = {
  name: 'webhooks.erase_events',
  text: 'delete from webhook_events v using unnest($1::text[]) as w(id) where v.id = w.id',
};

/** Deletes the deliveries that are left at the key's endpoints after its events are erased. Usually there are none. */
const DELETE_LEFT: Statement = {
  name: 'webhooks.erase_left_deliveries',
  text: `
    with found as (
      select d.event_id, d.endpoint_id, d.attempt
      from webhook_endpoints e join webhook_deliveries d on d.endpoint_id = e.id where e.api_key_id = $1 limit ${DELIVERIES}
    )
    delete from webhook_deliveries d using found f
    where d.event_id = f.event_id and d.endpoint_id = f.endpoint_id and d.attempt = f.attempt`,
};
const DELETE_ENDPOINTS: Statement = {
  name: 'webhooks.erase_endpoints',
  text: 'delete from webhook_endpoints where api_key_id = $1',
};

/**
 * Erases events with their dispatches and deliveries, then the endpoints, of which a key has few. Raw SQL because each
 * statement deletes one bounded piece.
 */
@Injectable()
export class EraseWebhooks implements OnModuleInit {
  constructor(
    private readonly sql: Sql,
    private readonly steps: ErasureSteps,
  ) {}

  onModuleInit(): void {
    this.steps.register('webhook_events', (work) =>
      readThrough(this.sql, work, SEE_EVENTS, async (tx, ids) => {
        const deliveries = await tx.query({ ...DELETE_DELIVERIES, values: [ids] });
        await tx.query({ ...DELETE_DISPATCHES, values: [ids] });
        const events = await tx.query({ ...DELETE_EVENTS, values: [ids] });
        return { webhook_deliveries: deliveries.rowCount ?? 0, webhook_events: events.rowCount ?? 0 };
      }),
    );
    this.steps.register('webhook_endpoints', (work) => this.eraseEndpoints(work));
  }

  private async eraseEndpoints(work: ErasureWork): Promise<'done'> {
    await work.repeat(async (tx) => {
      const deliveries = (await tx.query({ ...DELETE_LEFT, values: [work.apiKeyId] })).rowCount ?? 0;
      return { erased: { webhook_deliveries: deliveries }, mayBeMore: deliveries === DELIVERIES };
    });
    await work.commit(async (tx) => {
      const { rowCount } = await tx.query({ ...DELETE_ENDPOINTS, values: [work.apiKeyId] });
      return { erased: { webhook_endpoints: rowCount ?? 0 } };
    });
    return 'done';
  }
}
