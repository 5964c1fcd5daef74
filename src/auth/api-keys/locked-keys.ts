import type { EntityManager } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import type { Actor } from '../audit/actor.ts';
import { keysAbove } from '../credentials/sql/keys-above.ts';
import { ownLimits } from '../limits/api-key-limits.ts';
import { ApiKey } from './api-key.entity.ts';
import { assertCovers, type Grantor } from './grants.ts';

interface LockedKeys {
  target: ApiKey | undefined;
  /** null: the actor is no API key, so nothing bounds the act. */
  grantor: Grantor | null;
}

export const isApiKeyId = typeIdTest('key');

/**
 * Locks the acting key and the target until the commit, in the order of their ids, so that two acts cannot deadlock.
 * Reads the acting key again: the cached caller may be up to 5 s old, and a revoked key must not create another one.
 * Locks the acting key for share, so that its acts on many other keys do not wait for each other.
 * @throws ApiError api_key_revoked when the acting key is revoked or missing
 */
export async function lockKeys(tx: EntityManager, { caller }: Actor, targetId?: string): Promise<LockedKeys> {
  const ids = [caller?.apiKeyId, targetId].filter((id): id is string => id !== undefined && isApiKeyId(id));
  const keys: ApiKey[] = [];
  for (const id of [...new Set(ids)].toSorted()) {
    const mode = id === targetId ? 'for_no_key_update' : 'pessimistic_read';
    keys.push(...(await tx.find(ApiKey, { where: { id }, lock: { mode } })));
  }
  const target = keys.find(({ id }) => id === targetId);
  if (!caller) return { target, grantor: null };
  const own = keys.find(({ id }) => id === caller.apiKeyId);
  if (!own || own.revoked_at) throw new ApiError('api_key_revoked');
  const { scopes, limits, models, expires_at: expiresAt } = own;
  const above = own.created_by === null ? [] : await boundedAbove(tx, own);
  return { target, grantor: { scopes, limits: ownLimits(limits), budget: limits.budget, models, expiresAt, above } };
}

async function boundedAbove(tx: EntityManager, { id, scopes }: ApiKey): Promise<Grantor[]> {
  const { bounds, expires_at: expiresAt } = await keysAbove(tx, id);
  const limited = bounds.map(({ limits, models }) => {
    return { scopes, limits: ownLimits(limits), budget: limits.budget, models, expiresAt: null };
  });
  return [{ scopes, limits: {}, budget: undefined, models: null, expiresAt }, ...limited];
}

/**
 * @throws ApiError api_key_not_found if the id is unknown, malformed or that of a revoked key; insufficient_scope;
 *   api_key_revoked
 */
export async function lockTarget(tx: EntityManager, id: string, by: Actor): Promise<LockedKeys & { target: ApiKey }> {
  const { target, grantor } = await lockKeys(tx, by, id);
  if (!target || target.revoked_at) notFound();
  if (grantor) assertCovers(grantor, target.scopes);
  return { target, grantor };
}

export function notFound(): never {
  throw new ApiError('api_key_not_found');
}
