import 'reflect-metadata';
import { withDatabaseUrl } from './cli/database.ts';
import { boundBufferGarbage } from './platform/buffer-garbage.ts';
import { type Config, loadConfig } from './platform/config.ts';
import { migrate } from './platform/database/migrate.ts';
import { Environment } from './platform/environment.ts';
import { logProcess } from './platform/logging/log-process.ts';
import { reloadLogLevels } from './platform/logging/reload-levels.ts';
import { startService } from './service.ts';
import { welcome } from './welcome.ts';

/** After this time the process exits although handles are open. */
const EXIT_TIMEOUT_MS = 3_000;

/**
 * A second signal exits at once, but not within this time: a process manager signals all processes of a service, and npm passes
 * its signal on, so `npm start` gets each one twice.
 */
const SAME_SIGNAL_MS = 1_000;

/**
 * Ends the process when its last handle closes. An immediate `process.exit` can hang forever: Node joins the thread of
 * a background compilation that waits for the garbage collector, which never runs (seen once, for nine minutes).
 */
function exitWhenIdle(): void {
  process.exitCode = 0;
  setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
}

async function serve(config: Config, environment: Environment): Promise<void> {
  const service = await startService(config);
  process.stdout.write(welcome(config, service.firstKey));
  logProcess();

  let stoppedAt: number | null = null;
  const stop = (): void => {
    if (stoppedAt === null) {
      stoppedAt = performance.now();
      void service.stop().finally(exitWhenIdle);
    } else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(1);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  // Of a terminal, SIGHUP says that it was closed.
  process.on('SIGHUP', process.stdin.isTTY ? stop : () => reloadLogLevels(environment.read()));
}

boundBufferGarbage();
const environment = new Environment();
Object.assign(process.env, environment.read()); // libraries read their variables there, such as those of AWS

try {
  const config = loadConfig();
  if (config.migrate === 'only') {
    await withDatabaseUrl(config, (url) => migrate(url, { isBehindPooler: config.databaseDirectUrl !== null }));
    process.stdout.write('The database is up to date.\n');
    exitWhenIdle();
  } else {
    await serve(config, environment);
  }
} catch (error) {
  process.stderr.write(`Darkroom did not start. ${(error as Error).message}\n`);
  process.exit(1);
}
