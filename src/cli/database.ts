import type { Config } from '../platform/config.ts';
import { assertOwnSessions } from '../platform/database/session-check.ts';
import { startEmbeddedPostgres } from '../platform/database/embedded/embedded-postgres.ts';

/**
 * Runs `work` with the URL of the configured database. Without DATABASE_URL it joins the embedded server, or starts it
 * and stops it afterwards.
 */
export async function withDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config.databaseUrl) {
    await assertOwnSessions(config.databaseUrl);
    return work(config.databaseUrl);
  }
  const embedded = await startEmbeddedPostgres(config.dataDir);
  try {
    return await work(embedded.url);
  } finally {
    await embedded.leave();
  }
}
