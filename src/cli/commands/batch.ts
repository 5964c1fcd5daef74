import { Command, Option } from 'commander';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { connect, connected, type Connection } from '../client/connect.ts';
import { UnsuccessfulError } from '../terminal/exit-codes.ts';
import { ProgressLine } from '../terminal/progress-line.ts';

interface Options extends Connection {
  endpoint: string;
  priority: 'low' | 'normal';
  skipInvalid?: true;
}

/** `darkroom batch <file.jsonl>`: calls the service over HTTP, as any client does. */
export function batchCommand(): Command {
  const command = new Command('batch')
    .description('Create a batch of generations, follow it, and print its results as JSON lines.')
    .argument('<file>', 'JSON lines: {"custom_id", "method": "POST", "url": "/v1/generations", "body"}')
    .option('--endpoint <path>', 'the `url` that the lines have', '/v1/generations')
    .addOption(new Option('--priority <priority>', 'priority of the items').choices(['low', 'normal']).default('low'))
    .option('--skip-invalid', 'run the valid items even if others are invalid')
    .action(async (file: string, options: Options) => runBatch(file, options, process.stdout));
  return connected(command, 'batch requests.jsonl > results.jsonl');
}

/**
 * Uploads the file, creates the batch and follows it to its end. Progress goes to stderr, the results to `out`.
 * @throws Error when the batch is refused, and when an item did not succeed
 */
export async function runBatch(
  file: string,
  { endpoint, priority, skipInvalid, ...connection }: Options,
  out: Writable,
): Promise<void> {
  const darkroom = connect(connection);
  const { id } = await darkroom.files.upload(file, { purpose: 'batch' });
  const options = { endpoint, priority, on_invalid: skipInvalid ? 'skip' : 'refuse' } as const;
  const run = await darkroom.batches.create({ input_file_id: id }, options);
  console.error(run.id);
  const line = new ProgressLine();
  const batch = await run
    .wait({ onProgress: (percent, { status }) => line.update(status, percent) })
    .finally(() => line.end());
  console.error(batch.status);
  for await (const result of run.results()) {
    if (!out.write(`${JSON.stringify(result)}\n`)) await once(out, 'drain');
  }
  const { total, completed } = batch.request_counts;
  if (completed < total) throw new UnsuccessfulError(`${total - completed} of ${total} items did not succeed.`);
}
