import type { INestApplicationContext } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ApiKeySecret } from '../../auth/api-keys/api-key-secret.entity.ts';
import { ApiKey } from '../../auth/api-keys/api-key.entity.ts';
import { ApiKeyViews } from '../../auth/api-keys/api-key-views.ts';
import { ApiKeysService } from '../../auth/api-keys/api-keys.service.ts';
import { AuditEvent } from '../../auth/audit/audit-event.entity.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { Authenticator } from '../../auth/credentials/authenticator.ts';
import { KeyBudgets } from '../../auth/limits/key-budgets.ts';
import { KeyHashes } from '../../auth/credentials/key-hashes.ts';
import { Erasure } from '../../auth/erasure/erasure.entity.ts';
import { Erasures } from '../../auth/erasure/erasures.ts';
import { LastUse } from '../../auth/credentials/last-use.ts';
import { OneTimeCode } from '../../auth/sessions/one-time-code.entity.ts';
import { OneTimeCodes } from '../../auth/sessions/one-time-codes.ts';
import { Config, loadConfig } from '../../platform/config/config.ts';
import { DatabaseModule } from '../../platform/database/database.module.ts';
import { NewestKey } from '../../platform/database/secret-keys/newest-key.ts';
import { loadSecretKeys, Secrets } from '../../platform/config/secrets.ts';
import { withDatabaseUrl } from './database.ts';
import { withNestContext } from './nest-context.ts';

/**
 * Runs `work` with the services of API keys and of their audit, on the configured database. The providers are named
 * here, because AuthModule also brings the guards, routes and workers of a running service.
 * @throws Error when migrations are pending: a command does not change the schema without being asked to
 */
export async function withKeyContext(
  work: (context: INestApplicationContext, config: Config) => Promise<void>,
): Promise<void> {
  const config = loadConfig();
  await withDatabaseUrl(config, async (url) => {
    const secrets = new Secrets(await loadSecretKeys(config));
    const parts = {
      imports: [
        DatabaseModule.connect(url),
        TypeOrmModule.forFeature([ApiKey, ApiKeySecret, AuditEvent, Erasure, OneTimeCode]),
      ],
      providers: [
        ApiKeysService,
        ApiKeyViews,
        AuditLog,
        Authenticator,
        KeyHashes,
        NewestKey,
        Erasures,
        KeyBudgets,
        LastUse,
        OneTimeCodes,
        { provide: Config, useValue: config },
        { provide: Secrets, useValue: secrets },
      ],
    };
    await withNestContext(parts, async (context) => {
      if (await context.get(DataSource).showMigrations()) {
        throw new Error('The database is not up to date. Run `npx darkroom migrate`, or start the service once.');
      }
      await work(context, config);
    });
  });
}
