import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { loadConfig } from './platform/config.ts';
import { startService } from './service.ts';
import { welcome } from './welcome.ts';

/** What is still open then is left behind. */
const LINGER_MS = 3_000;

/**
 * Ends with the last open handle. `process.exit` at once would hang for ever where a compilation in the background
 * waits for the garbage collector: Node joins that thread without letting it go on (seen once, for nine minutes).
 */
function leave(): void {
  process.exitCode = 0;
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

if (existsSync('.env')) process.loadEnvFile('.env');

try {
  const config = loadConfig();
  const service = await startService(config);
  process.stdout.write(welcome(config, service.firstKey));

  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1); // asked twice: at once
      stopping = true;
      void service.stop().finally(leave);
    });
  }
} catch (error) {
  process.stderr.write(`Darkroom did not start. ${(error as Error).message}\n`);
  process.exit(1);
}
