import type { Sql, Statement } from '../../../platform/database/sql.ts';

/**
 * Raw SQL because of `skip locked`: the process that has locked a row mostly writes the same value, so the row can be
 * skipped. Two of these statements never wait for each other and never deadlock. A revoked key keeps the time of its
 * last accepted use.
 */
const RECORD_LAST_USE: Statement = {
  name: 'auth.record_last_use',
  text: `
  update api_keys set last_used_at = now()
   where id in (select id from api_keys where id = any($1) and revoked_at is null
                   and (last_used_at is null or last_used_at < now() - interval '1 minute')
                   for no key update skip locked)`,
};

/** Sets the last use of these keys to now, at most once a minute per key. */
export async function recordLastUse(sql: Sql, apiKeyIds: readonly string[]): Promise<void> {
  await sql.run(RECORD_LAST_USE, [apiKeyIds]);
}
