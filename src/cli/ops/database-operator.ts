import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.ts';
import { BatchesModule } from '../../batches/batches.module.ts';
import { GenerationModule } from '../../generation/generation.module.ts';
import { ModelsModule } from '../../models/models.module.ts';
import { OperationsModule } from '../../operations/operations.module.ts';
import { type Config, loadConfig } from '../../platform/config.ts';
import { connectDataSource } from '../../platform/database/connect.ts';
import { assertMigrated } from '../../platform/database/schema-check.ts';
import { GraphqlModule } from '../../platform/graphql/graphql.module.ts';
import { createHttpApp } from '../../platform/http/http-app.ts';
import { PlatformModule } from '../../platform/platform.module.ts';
import { loadSecretKey, Secrets } from '../../platform/secrets.ts';
import { TasksModule } from '../../tasks/tasks.module.ts';
import { WebhooksModule } from '../../webhooks/webhooks.module.ts';
import { withDatabaseUrl } from '../database.ts';
import { callRoute } from './database-routes.ts';
import type { Operator } from './operator.ts';

@Module({})
class OperatorModule {}

/** Whatever reacts to the end of a task must be there, or a task that an operator ends would tell nobody. */
const MODULES = [
  GraphqlModule,
  AuthModule,
  ModelsModule,
  TasksModule,
  GenerationModule,
  BatchesModule,
  WebhooksModule,
  OperationsModule,
];

/** An API process that neither listens nor logs: it runs no task, and operators do not see it. */
const unseen = (config: Config): Config => ({
  ...config,
  role: 'api',
  logLevel: 'silent',
  logLevels: {},
  opsPort: null,
});

/**
 * Runs `work` with an operator that needs no running service and no key: access to the database is enough.
 * @throws Error when the database lacks migrations of this program
 */
export async function onDatabase<Result>(work: (operator: Operator) => Promise<Result>): Promise<Result> {
  const config = unseen(loadConfig());
  return withDatabaseUrl(config, async (databaseUrl) => {
    await assertMigrated(databaseUrl);
    const secrets = new Secrets(await loadSecretKey(config));
    const dataSource = await connectDataSource(databaseUrl);
    try {
      const platform = PlatformModule.forRoot({ config, secrets, databaseUrl, dataSource });
      const app = await createHttpApp({ module: OperatorModule, imports: [platform, ...MODULES] }, config);
      try {
        await app.init();
        return await work({
          call: (method, path, body) => callRoute(app, method, path, body),
          once: (method, path, body) => callRoute(app, method, path, body),
        });
      } finally {
        await app.close();
      }
    } finally {
      if (dataSource.isInitialized) await dataSource.destroy();
    }
  });
}
