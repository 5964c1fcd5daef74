import { Command } from 'commander';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ROOT_FOLDER } from '../../platform/config/root-folder.ts';

const MAIN = `${ROOT_FOLDER}dist/main.js`;

/** `darkroom up`: starts the service that was built before. `npm start` builds first. */
export function upCommand(): Command {
  return new Command('up')
    .description('Start the service, until interrupted.')
    .addHelpText('after', '\nExample: PORT=8080 npx darkroom up')
    .action(async () => {
      const child = spawn(process.execPath, [MAIN], { stdio: 'inherit' });
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
      const [code] = (await once(child, 'exit')) as [number | null];
      process.exitCode = code ?? 1;
    });
}
