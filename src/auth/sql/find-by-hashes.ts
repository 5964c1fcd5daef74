import type { Sql, Statement } from '../../platform/database/sql.ts';
import type { ApiKeyLimits } from '../api-keys/api-key-limits.ts';
import type { Scope } from '../caller.ts';

/** The state of the key that a presented secret belongs to, at the time of the query. */
export interface FoundApiKey {
  id: string;
  scopes: Scope[];
  limits: ApiKeyLimits;
  revoked: boolean;
  /** Milliseconds until the key or the secret expires, by the database's clock. Negative after expiry; null: never. */
  validMs: number | null;
  /** The recorded last use is more than a minute old, or missing. */
  lastUseStale: boolean;
}

/**
 * Raw SQL because every request may depend on it: prepared, without hydration, one primary-key probe per hash.
 * `least` ignores nulls, so the current secret of a key without expiry yields null.
 * `clock_timestamp()` instead of `now()`: the value stays correct inside a long transaction too.
 */
const FIND_BY_HASHES: Statement = {
  name: 'auth.find_by_hashes',
  text: `
  select s.hash, k.id, k.scopes, k.limits, k.revoked_at is not null as revoked,
         (extract(epoch from least(k.expires_at, s.expires_at) - clock_timestamp()) * 1000)::float8 as "validMs",
         coalesce(k.last_used_at < now() - interval '1 minute', true) as "lastUseStale"
    from api_key_secrets s
    join api_keys k on k.id = s.api_key_id
   where s.hash = any($1::bytea[])`,
};

/** Looks up many hashes at once. Returns the keys in the order of the hashes, null for an unknown hash. */
export async function findByHashes(sql: Sql, hashes: readonly Buffer[]): Promise<(FoundApiKey | null)[]> {
  const rows = await sql.run<FoundApiKey & { hash: Buffer }>(FIND_BY_HASHES, [hashes]);
  const byHash = new Map(rows.map((row) => [row.hash.toString('base64'), row]));
  return hashes.map((hash) => byHash.get(hash.toString('base64')) ?? null);
}
