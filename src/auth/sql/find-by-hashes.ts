import type { Sql, Statement } from '../../platform/database/sql.ts';
import type { ApiKeyLimits } from '../api-keys/api-key-limits.ts';
import type { Scope } from '../caller.ts';

/** What the database knows of one presented secret, at the moment of asking. */
export interface FoundApiKey {
  id: string;
  scopes: Scope[];
  limits: ApiKeyLimits;
  revoked: boolean;
  /** Milliseconds until key or secret expires by the database's clock, negative once it has; null: never. */
  validMs: number | null;
  /** The recorded last use is over a minute old, or there is none. */
  lastUseStale: boolean;
}

/**
 * One probe of the primary key a hash. `least` ignores nulls, so a current secret of an endless key gives null.
 * `clock_timestamp` rather than `now`, though each stands alone here: it stays right inside a transaction too.
 */
const FIND_BY_HASHES: Statement = {
  name: 'auth.find-by-hashes',
  text: `
  select s.hash, k.id, k.scopes, k.limits, k.revoked_at is not null as revoked,
         (extract(epoch from least(k.expires_at, s.expires_at) - clock_timestamp()) * 1000)::float8 as "validMs",
         coalesce(k.last_used_at < now() - interval '1 minute', true) as "lastUseStale"
    from api_key_secrets s
    join api_keys k on k.id = s.api_key_id
   where s.hash = any($1::bytea[])`,
};

/** Looks many hashes up at once; answers in their order, null where there is none. */
export async function findByHashes(sql: Sql, hashes: readonly Buffer[]): Promise<(FoundApiKey | null)[]> {
  const rows = await sql.run<FoundApiKey & { hash: Buffer }>(FIND_BY_HASHES, [hashes]);
  const byHash = new Map(rows.map((row) => [row.hash.toString('base64'), row]));
  return hashes.map((hash) => byHash.get(hash.toString('base64')) ?? null);
}
