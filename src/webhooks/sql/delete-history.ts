import type { EntityManager } from 'typeorm';

/**
 * The maximum number of attempts in one statement. The same maximum applies to waiting dispatches, and to dispatches
 * that were given up.
 */
const MAX_ROWS = 5_000;

/**
 * Deletes attempts of an endpoint and their dispatches, and dispatches without an attempt, each through an index.
 * Leaves rows that another transaction has locked: a statement that waits for no lock cannot deadlock.
 */
const DELETE_HISTORY = `
  with attempts as materialized (
    select ctid as place, event_id from webhook_deliveries
    where endpoint_id = $1 order by id limit ${MAX_ROWS} for update skip locked
  ), deliveries as (
    delete from webhook_deliveries where ctid = any(array(select place from attempts))
  ), dispatches as (
    delete from webhook_dispatches where ctid = any(
      array(select ctid from webhook_dispatches
            where event_id = any(array(select event_id from attempts)) and endpoint_id = $1 for update skip locked)
      || array(select ctid from webhook_dispatches
               where endpoint_id = $1 and due_at is not null limit ${MAX_ROWS} for update skip locked)
      || array(select ctid from webhook_dispatches
               where endpoint_id = $1 and lease_until is not null for update skip locked)
      || array(select ctid from webhook_dispatches
               where endpoint_id = $1 and delivered_at is null and due_at is null and lease_until is null
               limit ${MAX_ROWS} for update skip locked))
    returning 1
  )
  select greatest((select count(*) from attempts), (select count(*) from dispatches))::int as deleted`;

/**
 * Deletes what an endpoint has received and was to receive, in pieces. The purge of events takes rows that were locked
 * meanwhile. An endpoint may have a million rows. If one statement deleted them all, the deliveries of all keys would
 * wait for its lock.
 */
export async function deleteHistory(manager: EntityManager, endpointId: string): Promise<void> {
  let deleted: number;
  do {
    [{ deleted }] = (await manager.query(DELETE_HISTORY, [endpointId])) as [{ deleted: number }];
  } while (deleted >= MAX_ROWS);
}
