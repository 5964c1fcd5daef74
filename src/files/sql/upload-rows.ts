import { ApiError } from '../../errors/api-error.ts';
import type { Owner } from '../../auth/api-keys/key-limits.ts';
import { keysWithin } from '../../auth/limits/keys-below.ts';
import { hiddenTime } from '../../platform/database/planner.ts';
import type { Statement, Tx } from '../../platform/database/sql.ts';
import type { Purpose, Upload } from '../record/upload.entity.ts';

/**
 * The maximum number of uploads of one API key, pending ones included. If the key has a limit in bytes of its own, the
 * uploads of all keys below it count too.
 */
export const MAX_UPLOADS = 10_000;

/** Serialises the uploads of a key, so that concurrent uploads cannot exceed its quota together. */
const LOCK_KEY: Statement = {
  name: 'files.lock_key',
  text: `select pg_advisory_xact_lock(hashtextextended('uploads ' || $1, 0))`,
};

/**
 * The bytes that the key `$1` stores apart from the upload `$3`. If the key has a limit of its own, the bytes of all
 * keys below it count too. Bytes of the key `$4` with the hash `$2` do not count, because they are stored once. `$2` is
 * null for an announced file. Each pending file counts, because its hash is unknown. In a bucket, the link of an upload
 * still works after its file is deleted or completed, so the announced bytes count until `doomed_at`.
 */
const ROOM: Statement = {
  name: 'files.room',
  text: `
    with within as materialized (${keysWithin('$1', 'max_file_bytes')}
    ), counted as (
      select id, api_key_id, sha256, bytes, blob_id from uploads
      where api_key_id in (select id from within) and id <> $3 and not of_task and deleted_at is null and ${hiddenTime('expires_at')} > now()
    ), announced as (
      select api_key_id, announced_bytes as bytes from upload_blobs b
      where api_key_id in (select id from within) and announced_bytes is not null and doomed_at > now()
        and not exists (select from uploads u where u.blob_id = b.id and u.deleted_at is null)
    )
    select (select count(*) from counted)::int + (select count(*) from announced)::int as files,
           (select coalesce(sum(bytes), 0) from (
              select distinct on (api_key_id, coalesce(sha256, id)) bytes from counted
              where sha256 is null or sha256 is distinct from $2 or api_key_id <> $4
            ) stored)::float8 + (select coalesce(sum(bytes), 0) from announced)::float8 as bytes`,
};

const INSERT: Statement = {
  name: 'files.insert_upload',
  text: `
    insert into uploads (id, api_key_id, purpose, status, filename, content_type, bytes, sha256, declared_sha256,
                         width, height, blob_id, lifetime_s, of_task, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, now() + make_interval(secs => $15))
    returning *`,
};

const COMPLETE: Statement = {
  name: 'files.complete_upload',
  text: `
    update uploads
    set status = 'processed', content_type = $3, bytes = $4, sha256 = $5, width = $6, height = $7, blob_id = $8,
        expires_at = now() + make_interval(secs => lifetime_s)
    where id = $1 and api_key_id = $2 and status = 'pending' and deleted_at is null and expires_at > now()
    returning *`,
};

/** What is known of the bytes of a processed upload. */
export interface Content {
  content_type: string;
  bytes: number;
  /** Hex. */
  sha256: string;
  width: number | null;
  height: number | null;
}

export interface NewUpload extends Omit<Content, 'sha256'> {
  id: string;
  api_key_id: string;
  purpose: Purpose;
  filename: string;
  sha256: string | null;
  declared_sha256: string | null;
  blob_id: string;
  lifetime_s: number;
  of_task: boolean;
  /** Seconds until the upload expires, unless it is completed, or its task is created, within this time. */
  expires_in_s: number;
}

/** How many bytes a key may store. */
export interface Quota {
  /** 0: no limit. */
  maxBytes: number;
  /** The keys above this key with a limit of their own, which count these bytes too. */
  above: { apiKeyId: string; maxBytes: number }[];
}

export const quotaOf = ({ limits, bounds = [] }: Owner, limit: 'maxFileBytes' | 'maxRequestFileBytes'): Quota => ({
  maxBytes: limits[limit],
  above: bounds.flatMap(({ apiKeyId, limits: { [limit]: maxBytes = 0 } }) =>
    maxBytes > 0 ? [{ apiKeyId, maxBytes }] : [],
  ),
});

/**
 * Waits for locks and for a statement. All are sent together to save a round trip.
 * @throws the error of a lock rather than that of the statement, which then fails too
 */
export async function afterLocks<Result>(locks: Promise<unknown>[], statement: Promise<Result>): Promise<Result> {
  const [locked] = await Promise.allSettled([Promise.all(locks), statement]);
  if (locked.status === 'rejected') throw locked.reason;
  return statement;
}

/** @throws ApiError file_quota_exceeded */
export async function assertRoom(
  tx: Tx,
  { id, api_key_id, sha256, bytes }: Pick<NewUpload, 'id' | 'api_key_id' | 'sha256' | 'bytes'>,
  { maxBytes, above }: Quota,
): Promise<void> {
  const keys = [api_key_id, ...above.map(({ apiKeyId }) => apiKeyId)].sort();
  const storedBy = async (key: string) => {
    const { rows } = await tx.query({ ...ROOM, values: [key, sha256, id, api_key_id] });
    return (rows as [{ files: number; bytes: number }])[0];
  };
  const stored = await afterLocks(
    keys.map((key) => tx.query({ ...LOCK_KEY, values: [key] })),
    storedBy(api_key_id),
  );
  if (stored.files >= MAX_UPLOADS) {
    const message = `This API key, or it and those that it has made, have ${MAX_UPLOADS} uploads, as many as allowed; delete some.`;
    throw new ApiError('file_quota_exceeded', { message });
  }
  if (maxBytes > 0 && stored.bytes + bytes > maxBytes) {
    const message = `The uploads of this API key may take ${maxBytes} bytes, of which ${stored.bytes} are used; delete some.`;
    throw new ApiError('file_quota_exceeded', { message });
  }
  for (const bound of above) {
    const together = await storedBy(bound.apiKeyId);
    if (together.files < MAX_UPLOADS && together.bytes + bytes <= bound.maxBytes) continue;
    const what = together.files < MAX_UPLOADS ? `${bytes} more bytes of uploads` : 'more uploads';
    const message = `A key above this API key has no room for ${what}.`; // does not reveal the limit of the other key
    throw new ApiError('file_quota_exceeded', { message });
  }
}

export async function insertUpload(tx: Tx, upload: NewUpload): Promise<Upload> {
  const { rows } = await tx.query({
    ...INSERT,
    values: [
      upload.id,
      upload.api_key_id,
      upload.purpose,
      upload.sha256 === null ? 'pending' : 'processed',
      upload.filename,
      upload.content_type,
      upload.bytes,
      upload.sha256,
      upload.declared_sha256,
      upload.width,
      upload.height,
      upload.blob_id,
      upload.lifetime_s,
      upload.of_task,
      upload.expires_in_s,
    ],
  });
  return rows[0] as Upload;
}

/** @returns null when another request has completed the upload, or when the upload was deleted or has expired */
export async function completeUpload(
  tx: Tx,
  { id, api_key_id }: Upload,
  blobId: string,
  content: Content,
): Promise<Upload | null> {
  const { content_type, bytes, sha256, width, height } = content;
  const values = [id, api_key_id, content_type, bytes, sha256, width, height, blobId];
  const { rows } = await tx.query({ ...COMPLETE, values });
  return (rows[0] as Upload | undefined) ?? null;
}
