import { ApiError } from '../../errors/api-error.ts';
import { keysWithin } from '../../auth/limits/keys-below.ts';
import type { Statement, Tx } from '../../platform/database/sql.ts';
import { afterLocks, type NewUpload, type Quota } from './upload-rows.ts';

/**
 * Counts the bytes that a request has brought, if no request has brought them before. The sum is stored, because a key
 * may have a million pictures. Each key that counts the bytes is locked, so that concurrent creations cannot exceed its
 * quota together.
 */
const COUNT: Statement = {
  name: 'files.count_request_file',
  text: `
    with counted as (
      update upload_blobs set request_bytes = $2 where id = $1 and request_bytes is null returning api_key_id
    )
    insert into request_file_sums as s (api_key_id, bytes) select api_key_id, $2 from counted
    on conflict (api_key_id) do update set bytes = s.bytes + excluded.bytes
    returning true as is_new`,
};

/** SQL: deletes the blobs that `where` selects, and subtracts their bytes from the sums. */
export const deleteBlobs = (where: string): string => `
    with gone as (
      delete from upload_blobs where ${where} returning api_key_id, request_bytes
    ), freed as (
      select api_key_id, sum(request_bytes) as bytes from gone where request_bytes is not null group by api_key_id
    )
    update request_file_sums s set bytes = s.bytes - freed.bytes from freed where s.api_key_id = freed.api_key_id`;

const LOCK: Statement = {
  name: 'files.lock_request_files',
  text: `select pg_advisory_xact_lock(hashtextextended('request files ' || $1, 0))`,
};

/** The bytes of the key `$1` and, if it has a limit of its own, of all keys below it. */
const SUM: Statement = {
  name: 'files.sum_request_files',
  text: `
    select coalesce(sum(bytes), 0)::float8 as bytes from request_file_sums
    where api_key_id in (${keysWithin('$1', 'max_request_file_bytes')})`,
};

/**
 * Call it in the transaction that makes the bytes usable.
 * @throws ApiError file_quota_exceeded; then the transaction must not commit
 */
export async function countRequestFile(
  tx: Tx,
  { api_key_id, blob_id, bytes }: Pick<NewUpload, 'api_key_id' | 'blob_id' | 'bytes'>,
  { maxBytes, above }: Quota,
): Promise<void> {
  const keys = [api_key_id, ...above.map(({ apiKeyId }) => apiKeyId)].sort();
  const locks = keys.map((key) => tx.query({ ...LOCK, values: [key] }));
  const { rows } = await afterLocks(locks, tx.query({ ...COUNT, values: [blob_id, bytes] }));
  if (rows.length === 0) return;
  const storedBy = async (key: string) => (await tx.query<{ bytes: number }>({ ...SUM, values: [key] })).rows[0]!.bytes;
  const stored = maxBytes > 0 ? await storedBy(api_key_id) : 0;
  if (maxBytes > 0 && stored > maxBytes) {
    const message =
      `The files inside the requests of this API key may take ${maxBytes} bytes, of which ${stored - bytes} are used; ` +
      'they go with the files of their tasks.';
    throw new ApiError('file_quota_exceeded', { message });
  }
  for (const bound of above) {
    if ((await storedBy(bound.apiKeyId)) <= bound.maxBytes) continue;
    const message =
      `A key above this API key has no room for ${bytes} more bytes of files inside requests; ` +
      'they go with the files of their tasks.';
    throw new ApiError('file_quota_exceeded', { message });
  }
}
