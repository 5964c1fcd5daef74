import { type EntityManager, IsNull, Raw } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { keysFrom } from '../limits/keys-below.ts';
import { ApiKey } from './api-key.entity.ts';

/**
 * The maximum number of keys above one key. All of them are read with the key. Each use of the key also counts against
 * those that are bounded.
 */
const MAX_ABOVE = 8;
/**
 * The maximum number of unrevoked keys that one key has made, because a revocation locks all keys below it. If a key
 * has a limit in bytes, this is also the maximum number of keys at all depths below it, because each upload sums the
 * bytes that they store. That number includes keys revoked within the last `UPLOADS_END`.
 */
const MAX_MADE = 10_000;
/** A key that was revoked longer ago than this has no uploads left, unless the operator keeps them for longer. */
const UPLOADS_END = `interval '30 days'`;

/** The limits in bytes. If a key has one, each upload sums what the key and all keys below it store. */
const BYTES = ['max_file_bytes', 'max_request_file_bytes', 'max_kept_bytes'] as const;

/**
 * Whether a key has limits, models or an expiry of its own. Keys that it makes are within its limits and models, and
 * expire with it.
 */
export const isBounded = ({ limits, models, expires_at }: ApiKey): boolean =>
  Object.keys(limits).length > 0 || models !== null || expires_at !== null;

/**
 * Limits how many keys a key may make, and how many keys may be above a key. Concurrent requests do not wait for each
 * other, so together they may exceed a limit by a few keys.
 * @throws ApiError too_many_items
 */
export async function assertMayMake(tx: EntityManager, maker: string): Promise<void> {
  let above = 1;
  let highestSumming: string | null = null;
  for (let id: string | null = maker; id !== null; above += 1) {
    if (above > MAX_ABOVE) {
      throw new ApiError('too_many_items', { message: `At most ${MAX_ABOVE} API keys may be above another one.` });
    }
    const key: ApiKey | null = await tx.findOne(ApiKey, { select: { created_by: true, limits: true }, where: { id } });
    if (key && BYTES.some((limit) => (key.limits[limit] ?? 0) > 0)) highestSumming = id;
    id = key?.created_by ?? null;
  }
  if (highestSumming === null) {
    if ((await tx.countBy(ApiKey, { created_by: maker, revoked_at: IsNull() })) < MAX_MADE) return;
    throw new ApiError('too_many_items', { message: `An API key may have made ${MAX_MADE} others that work.` });
  }
  const lately = Raw((column) => `(${column} is null or ${column} > now() - ${UPLOADS_END})`);
  if ((await tx.countBy(ApiKey, { id: below(highestSumming), revoked_at: lately })) < MAX_MADE) return;
  const message = `At most ${MAX_MADE} API keys may be below one with a limit of bytes; those revoked in the last 30 days count.`;
  throw new ApiError('too_many_items', { message });
}

const below = (id: string) =>
  Raw((column) => `${column} <> :root and ${column} = any(array(${keysFrom(':root')}))`, { root: id });

/**
 * Locks all unrevoked keys below a locked key until the commit: those that it has made, those that they have made and
 * so on. Includes keys below a revoked key. While the query waits for a lock, a key below may make a further key,
 * because making a key locks only its maker. So the query is repeated until it finds no further key.
 */
export async function lockMadeKeys(tx: EntityManager, id: string): Promise<ApiKey[]> {
  for (let known = 0; ;) {
    const made = await tx.find(ApiKey, {
      where: { id: below(id), revoked_at: IsNull() },
      order: { id: 'asc' },
      lock: { mode: 'for_no_key_update' },
    });
    if (made.length === known) return made;
    known = made.length;
  }
}
