import { Argument, Command } from 'commander';
import { ServiceClient } from '../client/service-client.ts';
import { keyOption, requireKey, urlOption } from '../client/service-options.ts';

/** Requests that end in the named event. #fail is a directive of the sandbox, which renders nothing for it. */
const PARAMETERS = {
  'task.completed': { model: 'gpt-image-2', prompt: 'A test of webhooks', resolution: '1K' },
  'task.failed': { model: 'gpt-image-2', prompt: '#fail:internal_error' },
};

/** `darkroom trigger task.failed`: creates a task whose end sends a webhook. */
export function triggerCommand(): Command {
  return new Command('trigger')
    .description(
      'Create a task that ends in this event and print its id. Meant for the sandbox: a real provider may charge for it.',
    )
    .addArgument(new Argument('<event>').choices(Object.keys(PARAMETERS)))
    .addOption(urlOption())
    .addOption(keyOption())
    .action(async (event: keyof typeof PARAMETERS, options: { url: string; key?: string }) => {
      const headers = { 'idempotency-key': crypto.randomUUID() }; // makes the request safe to retry
      const service = new ServiceClient(options.url, requireKey(options.key));
      const task = await service.call<{ task_id: string }>('POST', '/v1/generations', PARAMETERS[event], headers);
      console.log(task.task_id);
    });
}
