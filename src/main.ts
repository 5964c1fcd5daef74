import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { loadConfig } from './platform/config.ts';
import { startService } from './service.ts';
import { welcome } from './welcome.ts';

/** After this time the process exits although handles are open. */
const EXIT_TIMEOUT_MS = 3_000;

/**
 * Ends the process when its last handle closes. An immediate `process.exit` can hang forever: Node joins the thread of
 * a background compilation that waits for the garbage collector, which never runs (seen once, for nine minutes).
 */
function exitWhenIdle(): void {
  process.exitCode = 0;
  setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
}

if (existsSync('.env')) process.loadEnvFile('.env');

try {
  const config = loadConfig();
  const service = await startService(config);
  process.stdout.write(welcome(config, service.firstKey));

  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1); // second signal: exit at once
      stopping = true;
      void service.stop().finally(exitWhenIdle);
    });
  }
} catch (error) {
  process.stderr.write(`Darkroom did not start. ${(error as Error).message}\n`);
  process.exit(1);
}
