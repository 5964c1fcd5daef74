import type { Sql, Statement } from '../../../platform/database/sql.ts';
import type { ApiKeyLimits } from '../../limits/api-key-limits.ts';
import { type BoundingKey, KEYS_ABOVE } from './keys-above.ts';
import type { Scope } from '../../access/caller.ts';

/** The state of the key that a presented secret belongs to, at the time of the query. */
export interface FoundApiKey {
  id: string;
  scopes: Scope[];
  limits: ApiKeyLimits;
  /** null: every model without `access: listed`. */
  models: string[] | null;
  /** The keys above this one that have limits or models of their own. */
  bounds: BoundingKey[];
  /** The key, or a bounded key above it, is revoked. */
  revoked: boolean;
  /**
   * Milliseconds until the credential expires, by the database's clock. It expires with the key, a key above it, the
   * secret or the session, whichever comes first. 0 or less: it has expired; null: it never does.
   */
  validMs: number | null;
  /** The recorded last use is more than a minute old, or missing. */
  lastUseStale: boolean;
}

/** The state of the key, with the stored form of its secret. */
export interface FoundByHash extends FoundApiKey {
  hash: Buffer;
  /** The id of the SECRET_KEY that made the hash; null: unknown. */
  secretKeyId: string | null;
}

/**
 * Raw SQL because every request may depend on it: a prepared statement, no hydration, and one look-up in the primary
 * key for each hash. `least` ignores nulls, so the current secret of a key without expiry yields null.
 * `clock_timestamp()` instead of `now()`: the value stays correct inside a long transaction too.
 */
const FIND_BY_HASHES: Statement = {
  name: 'auth.find_by_hashes',
  text: `
  select s.hash, s.secret_key_id as "secretKeyId", k.id, k.scopes, k.limits, k.models, k.revoked_at is not null or above.revoked as revoked, above.bounds,
         (extract(epoch from least(k.expires_at, above.expires_at, s.expires_at) - clock_timestamp()) * 1000)::float8 as "validMs",
         coalesce(k.last_used_at < now() - interval '1 minute', true) as "lastUseStale"
    from api_key_secrets s
    join api_keys k on k.id = s.api_key_id${KEYS_ABOVE}
   where s.hash = any($1::bytea[])`,
};

/**
 * Looks up many secrets at once.
 * @param secrets for each secret, the hashes that it may be stored with
 * @returns the keys in the order of the secrets, null for an unknown one
 */
export async function findByHashes(sql: Sql, secrets: readonly (readonly Buffer[])[]): Promise<(FoundByHash | null)[]> {
  const rows = await sql.run<FoundByHash>(FIND_BY_HASHES, [secrets.flat()]);
  const byHash = new Map(rows.map((row) => [row.hash.toString('base64'), row]));
  return secrets.map((hashes) => {
    for (const hash of hashes) {
      const found = byHash.get(hash.toString('base64'));
      if (found) return found;
    }
    return null;
  });
}
