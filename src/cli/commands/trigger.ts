import { Argument, Command } from 'commander';
import { ServiceClient } from '../client/service-client.ts';

/** What ends as wanted, by the sandbox's directives; nothing is rendered for a failure. */
const PARAMETERS = {
  'task.completed': { model: 'gpt-image-2', prompt: 'A test of webhooks', resolution: '1K' },
  'task.failed': { model: 'gpt-image-2', prompt: '#fail:internal_error' },
};

/** `darkroom trigger task.failed`: makes something happen that webhooks tell of. */
export function triggerCommand(): Command {
  return new Command('trigger')
    .description(
      'Create a task that ends this way and print its id. Meant for the sandbox: a provider may charge for it.',
    )
    .addArgument(new Argument('<event>').choices(Object.keys(PARAMETERS)))
    .option(
      '--url <url>',
      'address of the service; or DARKROOM_URL',
      process.env.DARKROOM_URL || 'http://127.0.0.1:3000',
    )
    .option('--key <key>', 'API key; better DARKROOM_API_KEY, which other users of the machine cannot see')
    .action(async (event: keyof typeof PARAMETERS, options: { url: string; key?: string }) => {
      const key = options.key ?? process.env.DARKROOM_API_KEY;
      if (!key) throw new Error('No API key: set DARKROOM_API_KEY, or give --key.');
      const headers = { 'idempotency-key': crypto.randomUUID() }; // so that it may be sent again
      const service = new ServiceClient(options.url, key);
      const task = await service.call<{ task_id: string }>('POST', '/v1/generations', PARAMETERS[event], headers);
      console.log(task.task_id);
    });
}
