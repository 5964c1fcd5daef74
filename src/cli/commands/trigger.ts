import { Argument, Command } from 'commander';
import { connect, connected, type Connection } from '../client/connect.ts';

/** Requests whose tasks end in the named event. #fail is a directive of the sandbox: it makes the task fail. */
const PARAMETERS = {
  'task.completed': { model: 'gpt-image-2', prompt: 'A test of webhooks', resolution: '1K' },
  'task.failed': { model: 'gpt-image-2', prompt: '#fail:internal_error' },
} as const;

/** `darkroom trigger task.failed`: creates a task whose end is an event for webhooks. */
export function triggerCommand(): Command {
  const command = new Command('trigger')
    .description(
      'Create a task that ends in this event and print its id. Meant for the sandbox: a real provider may charge for it.',
    )
    .addArgument(new Argument('<event>').choices(Object.keys(PARAMETERS)))
    .action(async (event: keyof typeof PARAMETERS, options: Connection) => {
      const run = await connect(options).generate(PARAMETERS[event]);
      console.log(options.json ? JSON.stringify(run.task, null, 2) : run.id);
    });
  return connected(command, 'trigger task.failed');
}
