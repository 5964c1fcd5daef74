import type { Config } from '../../platform/config/config.ts';
import { assertOwnSessions } from '../../platform/database/session-check.ts';
import { startEmbeddedPostgres } from '../../platform/database/embedded/embedded-postgres.ts';

/**
 * Runs `work` with the URL of the configured database. Behind a pooler this is the direct URL, which can do all that
 * the pooled one can. Without DATABASE_URL, joins the embedded server or starts it. The last process to leave stops
 * that server.
 */
export async function withDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseDirectUrl) {
    await assertOwnSessions(databaseDirectUrl, 'DATABASE_DIRECT_URL');
    return work(databaseDirectUrl);
  }
  if (databaseUrl) {
    await assertOwnSessions(databaseUrl);
    return work(databaseUrl);
  }
  const embedded = await startEmbeddedPostgres(config.dataDir);
  try {
    return await work(embedded.url);
  } finally {
    await embedded.leave();
  }
}
