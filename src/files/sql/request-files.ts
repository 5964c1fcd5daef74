import { ApiError } from '../../errors/api-error.ts';
import type { Statement, Tx } from '../../platform/database/sql.ts';

/**
 * Counts bytes that a request has brought, if no request has brought them before. A sum, because a key may have a
 * million pictures. The row of the sum serialises creations of the key, so that two at once cannot pass the quota
 * together.
 */
const COUNT: Statement = {
  name: 'files.count_request_file',
  text: `
    with counted as (
      update upload_blobs set request_bytes = $2 where id = $1 and request_bytes is null returning api_key_id
    )
    insert into request_file_sums as s (api_key_id, bytes) select api_key_id, $2 from counted
    on conflict (api_key_id) do update set bytes = s.bytes + excluded.bytes
    returning bytes::float8 as bytes`,
};

/** SQL: deletes blobs, and what they count for. `where` selects the blobs. */
export const deleteBlobs = (where: string): string => `
    with gone as (
      delete from upload_blobs where ${where} returning api_key_id, request_bytes
    ), freed as (
      select api_key_id, sum(request_bytes) as bytes from gone where request_bytes is not null group by api_key_id
    )
    update request_file_sums s set bytes = s.bytes - freed.bytes from freed where s.api_key_id = freed.api_key_id`;

/**
 * In the transaction that makes the bytes usable.
 * @param maxBytes 0: no limit
 * @throws ApiError file_quota_exceeded; then the transaction must not commit
 */
export async function countRequestFile(tx: Tx, blobId: string, bytes: number, maxBytes: number): Promise<void> {
  const { rows } = await tx.query({ ...COUNT, values: [blobId, bytes] });
  const [sum] = rows as { bytes: number }[];
  if (!sum || maxBytes === 0 || sum.bytes <= maxBytes) return;
  const message =
    `The files inside the requests of this API key may take ${maxBytes} bytes, of which ${sum.bytes - bytes} are used; ` +
    'they go with the files of their tasks.';
  throw new ApiError('file_quota_exceeded', { message });
}
