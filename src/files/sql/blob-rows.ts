import { randomBytes } from 'node:crypto';
import type { Statement, Tx } from '../../platform/database/sql.ts';

/**
 * Begins to use bytes that are already stored. Writes the row, so that a purge that runs at the same time compares
 * `used_at` again. After a mere lock of the row, the purge would delete bytes that a new upload has just begun to use.
 */
export const USE_BLOB: Statement = {
  name: 'files.use_blob',
  text: `
    update upload_blobs set used_at = now()
    where api_key_id = $1 and sha256 = $2 and doomed_at is null returning id`,
};

const ANNOUNCE_BLOB: Statement = {
  name: 'files.announce_blob',
  text: `
    insert into upload_blobs (id, api_key_id, sha256, announced_bytes, doomed_at)
    values ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
};

/** Makes written bytes usable. Fails with a unique violation when another upload of the same bytes was first. */
export const ACTIVATE_BLOB: Statement = {
  name: 'files.activate_blob',
  text: `update upload_blobs set doomed_at = null, used_at = now() where id = $1 and doomed_at > now() returning id`,
};

/**
 * Lets the purge delete the bytes, unless they have become usable: a commit whose answer was lost may have succeeded.
 * Returns the id if they are usable.
 */
export const DOOM_BLOB: Statement = {
  name: 'files.doom_blob',
  text: `
    with doomed as (update upload_blobs set doomed_at = least(doomed_at, now()) where id = $1 and doomed_at is not null)
    select id from upload_blobs where id = $1 and doomed_at is null`,
};

export const newBlobId = (apiKeyId: string): string => `uploads/${apiKeyId}/${randomBytes(16).toString('hex')}`;

/**
 * Announces bytes that are about to be written. Unless they are activated, the purge deletes them after `seconds`.
 * @param announcedBytes the number of bytes that a link permits, if the service cannot revoke the link; otherwise null
 */
export async function announceBlob(
  tx: Tx,
  blob: { id: string; api_key_id: string; sha256: string | null },
  seconds: number,
  announcedBytes: number | null = null,
): Promise<void> {
  await tx.query({ ...ANNOUNCE_BLOB, values: [blob.id, blob.api_key_id, blob.sha256, announcedBytes, seconds] });
}

export async function useBlob(tx: Tx, apiKeyId: string, sha256: string): Promise<string | null> {
  const { rows } = await tx.query({ ...USE_BLOB, values: [apiKeyId, sha256] });
  return (rows[0] as { id: string } | undefined)?.id ?? null;
}

/** @returns false when the purge has taken the bytes: writing them took too long, or their key was erased */
export async function activateBlob(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await tx.query({ ...ACTIVATE_BLOB, values: [id] });
  return rows.length === 1;
}
