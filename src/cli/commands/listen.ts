import 'reflect-metadata';
import { Command } from 'commander';

/** `darkroom listen`: webhooks on a laptop that the service cannot reach. */
export function listenCommand(): Command {
  return new Command('listen')
    .description('Forward the signed webhooks of your API key to a URL on this machine, until interrupted.')
    .requiredOption('--forward-to <url>', 'for example http://localhost:4000/hooks')
    .option('--events <types...>', 'only these events: task.completed, task.failed')
    .option('--secret <whsec>', 'sign with this secret instead of a new one')
    .option(
      '--url <url>',
      'address of the service (env: DARKROOM_URL)',
      process.env.DARKROOM_URL || 'http://127.0.0.1:3000',
    )
    .option('--key <key>', 'API key; prefer DARKROOM_API_KEY, which other users of this machine cannot see')
    .action(async (options: ListenOptions) => {
      const { listen } = await import('../forward-events.ts');
      const interrupted = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
      await listen({ ...options, key: options.key ?? process.env.DARKROOM_API_KEY }, interrupted.signal);
    });
}

interface ListenOptions {
  forwardTo: string;
  events?: string[];
  secret?: string;
  url: string;
  key?: string;
}
