import type { EntityManager } from 'typeorm';
import type { Statement } from '../../platform/database/sql.ts';

/**
 * Removes the due times of everything that waits for these endpoints, except tests. The dispatches stay, and `recover`
 * finds them. The queue and the delivery log change in one statement, so that they always agree.
 */
export const STOP_WAITING: Statement = {
  name: 'webhooks.stop',
  text: `
    with stopped as (
      update webhook_dispatches set due_at = null
      where endpoint_id = any($1::text[]) and due_at is not null and trigger <> 'test'
    )
    update webhook_deliveries set next_attempt_at = null where endpoint_id = any($1::text[]) and next_attempt_at > now()`,
};

/** Runs STOP_WAITING for one endpoint. */
export async function stopWaiting(manager: EntityManager, endpointId: string): Promise<void> {
  await manager.query(STOP_WAITING.text, [[endpointId]]);
}
