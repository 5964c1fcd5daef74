import type { EntityManager } from 'typeorm';
import type { Statement } from '../../platform/database/sql.ts';

/**
 * Stops the waiting dispatches, except tests, of those endpoints in `$1` that are disabled: removes their due times.
 * The dispatches stay, and `recover` finds them. The queue and the delivery log change in one statement, so that they
 * always agree.
 */
export const STOP_WAITING: Statement = {
  name: 'webhooks.stop',
  text: `
    with disabled as materialized (
      select id from webhook_endpoints where id = any($1::text[]) and status = 'disabled'
    ), stopped as (
      update webhook_dispatches set due_at = null
      where endpoint_id = any($1::text[]) and endpoint_id in (select id from disabled)
        and due_at is not null and trigger <> 'test'
    )
    update webhook_deliveries set next_attempt_at = null
    where endpoint_id = any($1::text[]) and endpoint_id in (select id from disabled) and next_attempt_at > now()`,
};

/** Runs STOP_WAITING for one endpoint. Does nothing if the endpoint is enabled. */
export async function stopWaiting(manager: EntityManager, endpointId: string): Promise<void> {
  await manager.query(STOP_WAITING.text, [[endpointId]]);
}
