import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ServiceClient } from '../client/service-client.ts';

interface Output {
  index: number;
  url: string;
  content_type: string;
  sha256: string;
}

/** What is used here of the task as the API shows it. */
interface Task {
  task_id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed';
  progress: number;
  result?: { outputs: Output[] };
  error?: { code: string; message: string };
}

const POLL_S = 30;
const DOWNLOAD_TIMEOUT_MS = 15 * 60_000;
const EXTENSIONS: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/webp': '.webp',
  'video/mp4': '.mp4',
  'video/webm': '.webm',
};

/**
 * Creates a task, follows it to its end and saves what came out. News goes to stderr, names of files to stdout.
 * @throws Error when the task fails
 */
export async function run(
  parameters: Record<string, unknown>,
  { url, key, out, json }: { url: string; key: string | undefined; out: string; json?: true },
): Promise<void> {
  if (!key) throw new Error('No API key: set DARKROOM_API_KEY, or give --key.');
  const service = new ServiceClient(url, key);
  // With the key of its own a creation may be sent again without being paid for twice.
  const created = await service.call<Task>('POST', '/v1/generations', parameters, { 'idempotency-key': randomUUID() });
  console.error(created.task_id);
  const task = await follow(service, created);
  if (json) console.log(JSON.stringify(task, null, 2));
  if (task.status === 'failed') throw new Error(`${task.error?.code}: ${task.error?.message}`);

  const outputs = task.result?.outputs ?? [];
  for (const output of outputs) {
    const file = await placeFor(output, task.task_id, out, outputs.length);
    await download(output, file);
    if (!json) console.log(file);
  }
}

async function follow(service: ServiceClient, task: Task): Promise<Task> {
  let shown = '';
  while (task.status === 'queued' || task.status === 'running') {
    const state = `${task.status} ${task.progress} %`;
    if (state !== shown) console.error(state);
    shown = state;
    task = await service.call<Task>('GET', `/v1/tasks/${task.task_id}?wait=${POLL_S}`);
  }
  console.error(task.status);
  return task;
}

/** `out` is a file only where one output is to come and it looks like one; otherwise a folder, made if need be. */
async function placeFor(output: Output, taskId: string, out: string, count: number): Promise<string> {
  const isFolder = (await stat(out).catch(() => null))?.isDirectory() ?? false;
  if (count === 1 && extname(out) !== '' && !isFolder) {
    await mkdir(dirname(out), { recursive: true });
    return out;
  }
  await mkdir(out, { recursive: true });
  return join(out, `${taskId}-${output.index}${EXTENSIONS[output.content_type] ?? ''}`);
}

/** Under its name only when it is whole and what the service promised. */
async function download({ url, sha256 }: Output, file: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
  if (!response.ok || !response.body) throw new Error(`The file could not be fetched: ${response.status}.`);
  const draft = `${file}.part`;
  const hash = createHash('sha256');
  try {
    await pipeline(
      response.body as AsyncIterable<Uint8Array>,
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(draft),
    );
    if (hash.digest('hex') !== sha256) throw new Error('The file arrived damaged: its SHA-256 differs.');
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
