import { type EntityManager, In } from 'typeorm';
import { ApiKey } from './api-key.entity.ts';

/** A key with limits of its own or an end: what it makes lives within these, and not longer than it. */
export const isBounded = ({ limits, expires_at }: ApiKey): boolean =>
  Object.keys(limits).length > 0 || expires_at !== null;

/**
 * Locks the keys that a locked key has made, those that they have made and so on, until the commit. None can be added
 * meanwhile, because a key that makes another one is locked for it.
 */
export async function lockMadeKeys(tx: EntityManager, id: string): Promise<ApiKey[]> {
  const made: ApiKey[] = [];
  for (let makers = [id]; makers.length > 0;) {
    const next = await tx.find(ApiKey, {
      where: { created_by: In(makers) },
      order: { id: 'asc' },
      lock: { mode: 'for_no_key_update' },
    });
    made.push(...next);
    makers = next.map((key) => key.id);
  }
  return made;
}
