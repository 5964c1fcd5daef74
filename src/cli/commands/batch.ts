import { Command, Option } from 'commander';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import type { Writable } from 'node:stream';
import { ServiceClient } from '../client/service-client.ts';
import { keyOption, requireKey, urlOption } from '../client/service-options.ts';

interface Options {
  endpoint: string;
  priority: 'low' | 'normal';
  skipInvalid?: true;
  url: string;
  key?: string;
}

/** The fields of the API's batch that this command uses. */
interface Batch {
  id: string;
  status: 'in_progress' | 'cancelling' | 'completed' | 'cancelled';
  progress: number;
  request_counts: { total: number; completed: number; failed: number };
}

const POLL_MS = 2_000;

/** `darkroom batch <file.jsonl>`: calls the service over HTTP, as any client does. */
export function batchCommand(): Command {
  return new Command('batch')
    .description('Create a batch of generations, follow it, and print its results as JSON lines.')
    .argument('<file>', 'JSON lines: {"custom_id", "method": "POST", "url": "/v1/generations", "body"}')
    .option('--endpoint <path>', 'the url of the lines', '/v1/generations')
    .addOption(new Option('--priority <priority>', 'of the items').choices(['low', 'normal']).default('low'))
    .option('--skip-invalid', 'run the valid items although others are invalid')
    .addOption(urlOption())
    .addOption(keyOption())
    .action(async (file: string, options: Options) => runBatch(file, options, process.stdout));
}

/**
 * Uploads the file, creates the batch and follows it to its end. Progress goes to stderr, the results to `out`.
 * @throws Error when the batch is refused, and when an item did not succeed
 */
export async function runBatch(
  file: string,
  { url, key, endpoint, priority, skipInvalid }: Options,
  out: Writable,
): Promise<void> {
  const service = new ServiceClient(url, requireKey(key));
  const { id: fileId } = await service.upload<{ id: string }>(file, 'batch');
  const request = { input_file_id: fileId, endpoint, priority, on_invalid: skipInvalid ? 'skip' : 'refuse' };
  // The idempotency key lets the client retry the creation without a second batch, which could cost a second time.
  const created = await service.call<Batch>('POST', '/v1/batches', request, { 'idempotency-key': randomUUID() });
  console.error(created.id);
  const batch = await follow(service, created);
  await pipeline(await service.read(`/v1/batches/${batch.id}/results`), out, { end: false });
  const { total, completed } = batch.request_counts;
  if (completed < total) throw new Error(`${total - completed} of ${total} items did not succeed.`);
}

async function follow(service: ServiceClient, batch: Batch): Promise<Batch> {
  let printed = '';
  while (batch.status === 'in_progress' || batch.status === 'cancelling') {
    const state = `${batch.status} ${batch.progress} %`;
    if (state !== printed) console.error(state);
    printed = state;
    await sleep(POLL_MS);
    batch = await service.call<Batch>('GET', `/v1/batches/${batch.id}`);
  }
  console.error(batch.status);
  return batch;
}
