import type { DataSource } from 'typeorm';
import { type Config, loadConfig } from '../platform/config.ts';
import { createDataSource } from '../platform/database/data-source.ts';
import { startEmbeddedPostgres } from '../platform/database/embedded/embedded-postgres.ts';

/** Runs something with the address of the configuration's database: the embedded one is joined, or started for as long. */
export async function withDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config.databaseUrl) return work(config.databaseUrl);
  const embedded = await startEmbeddedPostgres(config.dataDir);
  try {
    return await work(embedded.url);
  } finally {
    await embedded.leave();
  }
}

/**
 * Runs something on the configuration's database. The entities it uses must have been imported by then.
 * @throws Error when migrations are waiting: a command does not change the schema behind the operator's back
 */
export async function withDatabase<T>(work: (dataSource: DataSource, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig();
  return withDatabaseUrl(config, async (url) => {
    const dataSource = await createDataSource(url, { max: 2 }).initialize();
    try {
      if (await dataSource.showMigrations()) {
        throw new Error('The database is not up to date. Run `darkroom migrate`, or start the service once.');
      }
      return await work(dataSource, config);
    } finally {
      await dataSource.destroy();
    }
  });
}
