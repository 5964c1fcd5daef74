import type { INestApplication, Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { type Config, loadConfig } from '../../platform/config/config.ts';
import { connectDataSource } from '../../platform/database/connect.ts';
import { assertMigrated } from '../../platform/database/schema-check.ts';
import { createHttpApp } from '../../platform/http/http-app.ts';
import { PlatformModule } from '../../platform/platform.module.ts';
import { loadSecretKeys, Secrets } from '../../platform/config/secrets.ts';
import { withDatabaseUrl } from './database.ts';

@Module({})
class CommandModule {}

/** The configuration of an API process that neither listens nor logs. It runs no task, and operators do not see it. */
const unseen = (config: Config): Config => ({
  ...config,
  role: 'api',
  logLevel: 'silent',
  logLevels: {},
  opsPort: null,
});

/**
 * Runs `work` with these modules of the service on the configured database. Needs no running service and no key.
 * @throws Error when the database lacks migrations of this program
 */
export async function withService<Result>(
  modules: Type[],
  work: (app: INestApplication, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = unseen(loadConfig());
  return withDatabaseUrl(config, async (databaseUrl) => {
    await assertMigrated(databaseUrl);
    const secrets = new Secrets(await loadSecretKeys(config));
    const dataSource = await connectDataSource(databaseUrl);
    try {
      const platform = PlatformModule.forRoot({ config, secrets, databaseUrl, dataSource });
      const app = await createHttpApp({ module: CommandModule, imports: [platform, ...modules] }, config);
      try {
        await app.init();
        return await work(app, config);
      } finally {
        await app.close();
      }
    } finally {
      if (dataSource.isInitialized) await dataSource.destroy();
    }
  });
}
