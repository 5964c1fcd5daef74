import './hangup.ts'; // imported first: a signal may come while the rest is loaded
import 'reflect-metadata';
import { boundBufferGarbage } from './platform/run/buffer-garbage.ts';
import { loadCheckedConfig } from './checked-config.ts';
import type { Config } from './platform/config/config.ts';
import { Environment } from './platform/config/environment.ts';

async function migrateOnly(config: Config): Promise<void> {
  const { withDatabaseUrl } = await import('./cli/installation/database.ts');
  const { migrate } = await import('./platform/database/migrate.ts');
  await withDatabaseUrl(config, (url) => migrate(url, { isBehindPooler: config.databaseDirectUrl !== null }));
  process.stdout.write('The database is up to date.\n');
}

boundBufferGarbage();
const environment = new Environment();
try {
  Object.assign(process.env, environment.read()); // libraries such as AWS's read their variables there
  const config = await loadCheckedConfig();
  if (config.migrate === 'only') await migrateOnly(config);
  else {
    const { serve } = await import('./serve.ts'); // not at the top: it loads the whole service
    await serve(config, environment);
  }
} catch (error) {
  process.stderr.write(`Darkroom did not start. ${(error as Error).message}\n`);
  process.exit(1);
}
