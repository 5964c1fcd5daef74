import 'reflect-metadata';
import { Command } from 'commander';
import { keyOption, urlOption } from '../client/service-options.ts';
import type { ListenOptions } from '../client/forward-events.ts';

/** `darkroom listen`: forwards webhooks to a laptop that the service cannot reach. */
export function listenCommand(): Command {
  return new Command('listen')
    .description('Forward the signed webhooks of your API key to a URL on this machine, until interrupted.')
    .requiredOption('--forward-to <url>', 'for example http://localhost:4000/hooks')
    .option('--events <types...>', 'only these events: task.completed, task.failed')
    .option('--secret <whsec>', 'sign with this secret instead of a new one')
    .option('--json', 'print a line of JSON for each event')
    .addOption(urlOption())
    .addOption(keyOption())
    .addHelpText('after', '\nExample: npx darkroom listen --forward-to http://localhost:4000/hooks')
    .action(async (options: ListenOptions) => {
      const { listen } = await import('../client/forward-events.ts');
      const interrupted = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
      await listen(options, interrupted.signal);
    });
}
