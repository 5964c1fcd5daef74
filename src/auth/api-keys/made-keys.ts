import { type EntityManager, IsNull, Raw } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { keysFrom } from '../limits/keys-below.ts';
import { ApiKey } from './api-key.entity.ts';

/**
 * The most keys above a key. All of them are read with the key, and the use of the key counts for those that are
 * bounded.
 */
const MAX_ABOVE = 8;
/**
 * The most keys that one key has made and that are not revoked: a revocation locks all keys below it. If a key has a
 * limit of bytes, this is the most keys below it at any depth, because what they store is summed at each upload. Then
 * keys that were revoked lately count too.
 */
const MAX_MADE = 10_000;
/** A key that was revoked longer ago than this has no uploads left, unless the operator keeps them for longer. */
const UPLOADS_END = `interval '30 days'`;

/** The limits of bytes. For a key with such a limit, what it and all keys below it store is summed. */
const BYTES = ['max_file_bytes', 'max_request_file_bytes', 'max_kept_bytes'] as const;

/**
 * Whether a key has limits or models of its own, or an end. Keys that it makes are within these limits and models, and end
 * with it.
 */
export const isBounded = ({ limits, models, expires_at }: ApiKey): boolean =>
  Object.keys(limits).length > 0 || models !== null || expires_at !== null;

/**
 * Limits how many keys a key may make, and how many keys may be above a key. Requests at the same moment may make some
 * keys too many, because makers do not wait for each other.
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
 * Locks all keys below a locked key that are not revoked, until the commit: those that it has made, those that they have
 * made and so on. Keys below a revoked key are among them. Making a key locks its maker, so a query finds the keys that
 * were made while the query before it waited.
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
