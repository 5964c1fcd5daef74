import type { Sql, Statement } from '../../platform/database/sql.ts';

/**
 * The most rows in one statement. While a statement changes waiting rows, a claim of them waits, and with it the other
 * endpoints of its batch. A statement skips the rows that a claim has locked, which prevents deadlocks.
 */
export const PAGE = 2_000;

/**
 * Stops waiting dispatches, except tests, of those endpoints in `$1` that are disabled: removes their due times. The
 * dispatches stay, and `recover` finds them. The queue and the delivery log change in one statement, so that they
 * always agree.
 */
const STOP_WAITING: Statement = {
  name: 'webhooks.stop',
  text: `
    with page as materialized (
      select d.event_id, d.endpoint_id from webhook_dispatches d join webhook_endpoints e on e.id = d.endpoint_id
      where d.endpoint_id = any($1::text[]) and e.status = 'disabled' and d.due_at is not null and d.trigger <> 'test'
      limit ${PAGE} for update of d skip locked
    ), stopped as (
      update webhook_dispatches d set due_at = null from page p
      where d.event_id = p.event_id and d.endpoint_id = p.endpoint_id and d.due_at is not null and d.trigger <> 'test'
    ), logged as (
      update webhook_deliveries l set next_attempt_at = null from page p
      where l.event_id = p.event_id and l.endpoint_id = p.endpoint_id and l.next_attempt_at > now()
    )
    select count(*)::int as read from page`,
};

/** Stops all waiting dispatches of those of the endpoints that are disabled. */
export async function stopWaiting(sql: Sql, endpointIds: string[]): Promise<void> {
  for (;;) {
    const [page] = await sql.run<{ read: number }>(STOP_WAITING, [endpointIds]);
    if (!page || page.read < PAGE) return;
  }
}
