import type { Tx } from '../../platform/database/sql.ts';

/**
 * Marks that this restore is being handled. If another process starts at the same time, it waits here for the first,
 * and then has nothing to do.
 */
const BEGUN = `insert into restorations (restored_from) values ($1) on conflict do nothing returning restored_from`;

/**
 * Removes the due times, as if the deliveries were given up: they are sent only on demand. Nothing was written since
 * the restore, so every pending delivery is of an event from before the restore.
 */
const HOLD = `
  with held as (
    update webhook_dispatches set due_at = null, lease_until = null
    where due_at is not null or lease_until is not null returning 1
  )
  update restorations set held = (select count(*) from held) where restored_from = $1 returning held`;

/** Stops running replays, which would send again what was sent since the backup. */
const STOP_REPLAYS = `update webhook_replays set status = 'cancelled', ended_at = now() where status = 'running'`;

const SETTINGS = `set local lock_timeout = 0; set local statement_timeout = 0`;

/** @returns how many deliveries are held; null when an earlier start has already handled this restore */
export async function holdRestored(tx: Tx, restoredFrom: Date): Promise<number | null> {
  await tx.query(SETTINGS);
  const { rowCount } = await tx.query({ text: BEGUN, values: [restoredFrom] });
  if (rowCount === 0) return null;
  await tx.query(STOP_REPLAYS);
  const { rows } = await tx.query<{ held: number }>({ text: HOLD, values: [restoredFrom] });
  return rows[0]!.held;
}
