import type { Sql, Statement } from '../../../platform/database/sql.ts';

/**
 * Raw SQL because of `skip locked`: the process that has locked a row mostly writes the same times, so the row can be
 * skipped.
 */
const RECORD_SESSION_USE: Statement = {
  name: 'auth.record_session_use',
  text: `
  update sessions set last_seen_at = now(), expires_at = now() + idle_s * interval '1 second'
   where id in (select id from sessions where id = any($1) and expires_at > now()
                   and last_seen_at < now() - interval '1 minute'
                   for no key update skip locked)`,
};

/**
 * Sets the last use of these sessions to now, and their end to now plus their idle time. At most once a minute each.
 */
export async function recordSessionUse(sql: Sql, sessionIds: readonly string[]): Promise<void> {
  await sql.run(RECORD_SESSION_USE, [sessionIds]);
}
