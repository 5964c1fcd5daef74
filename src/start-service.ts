import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DataSource } from 'typeorm';
import { AppModule } from './app.module.ts';
import { Bootstrap } from './auth/api-keys/bootstrap.ts';
import { OneTimeCodes } from './auth/sessions/one-time-codes.ts';
import { TaskClaimer } from './generation/run/task-claimer.ts';
import type { Config } from './platform/config/config.ts';
import { connectDataSource, whileStarting } from './platform/database/connect.ts';
import { poolOf } from './platform/database/data-source.ts';
import { migrate } from './platform/database/migrate.ts';
import { type OpenDatabase, openDatabase } from './platform/database/open-database.ts';
import { assertPooler, assertSameDatabase } from './platform/database/pooler-check.ts';
import { assertMigrated } from './platform/database/schema-check.ts';
import { assertOwnSessions } from './platform/database/session-check.ts';
import { serveApiDocs } from './platform/http/api-docs.ts';
import { serveClientPackages } from './platform/http/client-packages.ts';
import { serveHealthOnly } from './platform/http/health-only.ts';
import { createHttpApp, type EdgeAdapter } from './platform/http/http-app.ts';
import { listening } from './platform/http/listening.ts';
import { serveModelSchema } from './platform/http/model-schema.ts';
import { OpsServer } from './platform/http/ops-server.ts';
import { Readiness } from './platform/run/readiness.ts';
import { Reloads } from './platform/config/reloads.ts';
import { traces } from './platform/observe/traces/traces.ts';
import { loadSecretKeys, Secrets } from './platform/config/secrets.ts';
import { OpenCalls } from './calls/open-calls.ts';
import { refuseAbsentRoutes } from './openai/absent-routes.ts';
import { OpenWaits } from './tasks/live/waits.ts';
import { DeliverWorker } from './webhooks/deliveries/deliver.worker.ts';

/** The API key that the first start created, to be shown once. */
export interface FirstKey {
  key: string;
  /** Signs a browser in with the key, once; null without the dashboard. */
  signInLink: string | null;
}

export interface Service {
  app: NestFastifyApplication;
  /** null if it is not the first start. */
  firstKey: FirstKey | null;
  /** Reads credentials and the login of the database again from their files. */
  reload(): void;
  /** Finishes the tasks and deliveries in flight or releases their leases, then closes all connections. */
  stop(): Promise<void>;
}

/**
 * Load balancers and clients notice the stop first. Then waiting requests end, and the workers stop. Nest would end the
 * renderers of the sandbox before the workers, which use them, and call the hooks of one module after the other. So the
 * times that both workers have to finish would add up. Their own hooks are for an application that is only closed.
 */
async function stop(app: NestFastifyApplication, delayS: number): Promise<void> {
  app.get(Readiness).stop();
  (app.getHttpAdapter() as EdgeAdapter).edge.connections.leave();
  if (delayS > 0) await sleep(delayS * 1000);
  app.get(OpenWaits).endAll();
  app.get(OpenCalls).endAll();
  await Promise.all([app.get(TaskClaimer).stop(), app.get(DeliverWorker).stop()]);
  await app.close();
}

async function makeFirstKey(app: NestFastifyApplication, { dashboard }: Config): Promise<FirstKey | null> {
  const issued = await app.get(Bootstrap).first();
  if (!issued) return null;
  return { key: issued.key, signInLink: dashboard ? await app.get(OneTimeCodes).linkFor(issued.apiKey.id) : null };
}

/** Called last, so that the spans and statements of the stop itself are not lost. */
async function leave(database: OpenDatabase): Promise<void> {
  await Promise.all([traces.stop(), database.leave()]);
}

/** Called before the service starts: with unsupported servers it would look healthy and lose events or creations. */
async function refuseUnsupported({ databaseUrl, databaseDirectUrl, eventsUrl }: Config): Promise<void> {
  if (databaseDirectUrl) await assertOwnSessions(databaseDirectUrl, 'DATABASE_DIRECT_URL');
  else if (databaseUrl) await assertOwnSessions(databaseUrl);
  if (eventsUrl) {
    const { assertServesEvents } = await import('./platform/events/redis-probe.ts'); // loads the Redis client
    await assertServesEvents(eventsUrl);
  }
}

/** @param url the URL of the pooler if there is one, otherwise of the database */
async function prepareDatabase({ migrate: mode, databaseDirectUrl }: Config, url: string): Promise<void> {
  const directUrl = databaseDirectUrl ?? url;
  if (databaseDirectUrl) await assertSameDatabase(url, databaseDirectUrl);
  if (mode === 'off') await assertMigrated(directUrl);
  else await migrate(directUrl, { isBehindPooler: databaseDirectUrl !== null });
  if (databaseDirectUrl) await assertPooler(url);
}

/**
 * Migrates the database, creates the modules and listens. Then the first start creates the first API key. If a step
 * fails, stops what the earlier steps started.
 * @throws Error with a message for the operator
 */
export async function startService(config: Config): Promise<Service> {
  if (config.taskPartitionDays !== null) {
    process.emitWarning('TASK_PARTITION_DAYS is ignored, and refused from 0.2 on: unset it.');
  }
  await refuseUnsupported(config);
  const secrets = new Secrets(await loadSecretKeys(config));
  const database = await openDatabase(config);
  let dataSource: DataSource | undefined;
  try {
    await traces.start(config);
    await prepareDatabase(config, database.url);
    // Connects before Nest, because Nest closes nothing if one of its providers cannot be made.
    dataSource = await connectDataSource(database.url, poolOf(config));
    const app = await createHttpApp(
      AppModule.forRoot({ config, secrets, databaseUrl: database.url, dataSource }),
      config,
    );
    const ops = config.opsPort === null ? null : new OpsServer(app.getHttpAdapter().getInstance());
    if (config.role === 'worker') serveHealthOnly(app.getHttpAdapter().getInstance());
    try {
      await whileStarting(dataSource, async () => {
        await app.init();
        await app.get(Bootstrap).preset();
        serveApiDocs(app);
        serveClientPackages(app);
        serveModelSchema(app);
        refuseAbsentRoutes(app);
      });
      const { host, port, opsPort } = config;
      await listening({ host, variable: 'PORT', port }, () => app.listen(port, host));
      if (ops && opsPort !== null)
        await listening({ host, variable: 'OPS_PORT', port: opsPort }, () => ops.listen(opsPort, host));
      const firstKey = await whileStarting(dataSource, () => makeFirstKey(app, config));
      const stopAll = async (): Promise<void> => {
        await stop(app, config.shutdownDelayS).finally(() => leave(database));
        await ops?.close();
      };
      return { app, firstKey, reload: () => app.get(Reloads).run(), stop: stopAll };
    } catch (error) {
      // Workers claim tasks before the service listens. Nest alone would close what these tasks need, and the tasks
      // would fail.
      await app
        .get(TaskClaimer)
        .stop(0)
        .catch(() => undefined);
      await app.close().catch(() => undefined);
      await ops?.close();
      throw error;
    }
  } catch (error) {
    // The embedded server runs as long as it has a client, so the connections are closed first.
    if (dataSource?.isInitialized) await dataSource.destroy().catch(() => undefined);
    await leave(database);
    throw error;
  }
}
