import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { loadConfig } from './platform/config.ts';
import { startService } from './service.ts';
import { welcome } from './welcome.ts';

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
      void service.stop().finally(() => process.exit(0));
    });
  }
} catch (error) {
  process.stderr.write(`Darkroom did not start. ${(error as Error).message}\n`);
  process.exit(1);
}
