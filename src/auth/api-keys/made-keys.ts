import { type EntityManager, IsNull, Raw } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { keysFrom } from '../limits/keys-below.ts';
import { ApiKey } from './api-key.entity.ts';

/** Each key below another one is looked up through all above it, and counts for the bounded ones. */
const MAX_ABOVE = 8;
/**
 * The most keys that one key has made and that work: a revocation locks all below it. Below a key with a limit of bytes
 * all keys count, also those revoked lately, because what they store is summed at each upload.
 */
const MAX_MADE = 10_000;
/** A key that was revoked earlier has no uploads left, unless the operator keeps them for longer. */
const UPLOADS_END = `interval '30 days'`;

/** What all keys below one with such a limit store is summed. */
const BYTES = ['max_file_bytes', 'max_request_file_bytes', 'max_kept_bytes'] as const;

/** A key with limits or models of its own or an end: what it makes lives within these, and not longer than it. */
export const isBounded = ({ limits, models, expires_at }: ApiKey): boolean =>
  Object.keys(limits).length > 0 || models !== null || expires_at !== null;

/**
 * Bounds what a key may make. Some more may be made at the same moment, because makers do not wait for each other.
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
 * Locks the working keys below a locked key until the commit: those that it has made, those that they have made and so
 * on, also through revoked keys, however many these are. Making a key locks its maker, so a key that is made while this
 * waits is found by the next look.
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
