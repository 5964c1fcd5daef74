import type { Sql, Statement } from '../../../platform/database/sql.ts';
import { KEYS_ABOVE } from './keys-above.ts';
import type { FoundApiKey } from './find-by-hashes.ts';

/** The state of the key that a session belongs to, at the time of the query. */
export interface FoundSession extends FoundApiKey {
  sessionId: string;
  /** The recorded last use of the session is more than a minute old. */
  lastSeenStale: boolean;
}

/**
 * As `auth.find_by_hashes`, but finds the key by a session, which costs one more look-up in an index. The join goes
 * through the secret of the session, so the session ends with that secret, and not only with the key.
 */
const FIND_BY_SESSIONS: Statement = {
  name: 'auth.find_by_sessions',
  text: `
  select n.token_hash as hash, n.id as "sessionId", k.id, k.scopes, k.limits, k.models, k.revoked_at is not null or above.revoked as revoked, above.bounds,
         (extract(epoch from least(k.expires_at, above.expires_at, s.expires_at, n.expires_at) - clock_timestamp()) * 1000)::float8
           as "validMs",
         coalesce(k.last_used_at < now() - interval '1 minute', true) as "lastUseStale",
         n.last_seen_at < now() - interval '1 minute' as "lastSeenStale"
    from sessions n
    join api_key_secrets s on s.hash = n.secret_hash
    join api_keys k on k.id = s.api_key_id${KEYS_ABOVE}
   where n.token_hash = any($1::bytea[]) and n.expires_at > clock_timestamp()`,
};

/**
 * Looks up many sessions at once. Returns them in the order of the hashes, null for an unknown or ended session.
 */
export async function findBySessions(sql: Sql, hashes: readonly Buffer[]): Promise<(FoundSession | null)[]> {
  const rows = await sql.run<FoundSession & { hash: Buffer }>(FIND_BY_SESSIONS, [hashes]);
  const byHash = new Map(rows.map((row) => [row.hash.toString('base64'), row]));
  return hashes.map((hash) => byHash.get(hash.toString('base64')) ?? null);
}
