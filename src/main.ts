import './hangup.ts'; // first: a signal may come while the rest is loaded
import 'reflect-metadata';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exitWhenIdle } from './exit-when-idle.ts';
import { boundBufferGarbage } from './platform/buffer-garbage.ts';
import { type Config, loadConfig } from './platform/config.ts';
import { openDatabase } from './platform/database/open-database.ts';
import { Environment } from './platform/environment.ts';

async function migrateOnly(config: Config): Promise<void> {
  const { withDatabaseUrl } = await import('./cli/database.ts');
  const { migrate } = await import('./platform/database/migrate.ts');
  await withDatabaseUrl(config, (url) => migrate(url, { isBehindPooler: config.databaseDirectUrl !== null }));
  process.stdout.write('The database is up to date.\n');
  exitWhenIdle();
}

/**
 * PostgreSQL starts while the modules are loaded: both take half a second of the start. But with another server for events only after it was
 * found to be one: a refused start starts nothing.
 */
async function loadAndServe(config: Config, environment: Environment): Promise<void> {
  const database = config.eventsUrl ? undefined : openDatabase(config);
  database?.catch(() => undefined); // thrown where it is awaited
  await nextTurn(); // else its program would be started only after the modules
  const { serve } = await import('./serve.ts');
  await serve(config, environment, database);
}

async function start(): Promise<void> {
  boundBufferGarbage();
  const environment = new Environment();
  Object.assign(process.env, environment.read()); // libraries read their variables there, such as those of AWS

  try {
    const config = loadConfig();
    if (config.migrate === 'only') await migrateOnly(config);
    else await loadAndServe(config, environment);
  } catch (error) {
    process.stderr.write(`Darkroom did not start. ${(error as Error).message}\n`);
    process.exit(1);
  }
}

/** The bundle is CommonJS, which cannot wait for its modules. */
export const started = start();
