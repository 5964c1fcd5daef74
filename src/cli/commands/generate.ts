import { Command } from 'commander';
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findModel, MODELS } from '../../models/catalog.ts';
import { isTaskId } from '../../tasks/task-id.ts';
import { ServiceClient } from '../client/service-client.ts';
import { keyOption, requireKey, urlOption } from '../client/service-options.ts';
import { number, wholeNumber } from '../options.ts';

interface Options {
  model: string;
  out: string;
  aspectRatio?: string;
  resolution?: string;
  n?: number;
  quality?: string;
  outputFormat?: string;
  outputCompression?: number;
  duration?: number;
  referenceImage?: string[];
  firstFrame?: string;
  file?: string[];
  referenceMode?: string;
  url: string;
  key?: string;
  json?: true;
}

interface Output {
  index: number;
  url: string;
  content_type: string;
  sha256: string;
}

/** The fields of the API's task that this command uses. */
interface Task {
  task_id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed';
  progress: number;
  result?: { outputs: Output[] };
  error?: { code: string; message: string };
}

const LONG_POLL_S = 30;
const DOWNLOAD_TIMEOUT_MS = 15 * 60_000;
const EXTENSIONS: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/webp': '.webp',
  'video/mp4': '.mp4',
  'video/webm': '.webm',
};

/** `darkroom generate "<prompt>"`: calls the service over HTTP, as any client does. */
export function generateCommand(): Command {
  return new Command('generate')
    .description('Generate an image or a video and save it.')
    .argument('<prompt>')
    .requiredOption('--model <id>', MODELS.map(({ id }) => id).join(', '))
    .option('--out <path>', 'output folder, or a file name if the task makes one file', '.')
    .option('--aspect-ratio <ratio>', 'for example 16:9')
    .option('--resolution <resolution>', 'for example 2K or 1080P')
    .option('--n <count>', 'number of images', wholeNumber)
    .option('--quality <quality>', 'for example high')
    .option('--output-format <format>', 'png, jpeg or webp; as the provider made it when left out')
    .option('--output-compression <percent>', 'quality of the encoder, for jpeg and webp', wholeNumber)
    .option('--duration <seconds>', 'length of the video', number)
    .option('--reference-image <url...>', 'reference images')
    .option('--first-frame <url>', 'image that the video starts with')
    .option('--file <path...>', 'images of this machine: reference images, or for a video its first frame')
    .option('--reference-mode <mode>', 'how the images guide the video')
    .addOption(urlOption())
    .addOption(keyOption())
    .option('--json', 'print the final task as JSON')
    .action(async (prompt: string, options: Options) => {
      const given = options.file ? withFiles(options, await upload(options.file, options)) : options;
      await run(parametersOf(prompt, given), options);
    });
}

/** @returns the ids of the files */
async function upload(paths: string[], { url, key }: Pick<Options, 'url' | 'key'>): Promise<string[]> {
  const service = new ServiceClient(url, requireKey(key));
  const ids: string[] = [];
  for (const path of paths) ids.push((await service.upload<{ id: string }>(path)).id);
  return ids;
}

/** A video starts with the one image that is given; further images, and those of an image, are references. */
function withFiles(options: Options, ids: string[]): Options {
  const isVideo = findModel(options.model)?.kind === 'video';
  if (isVideo && options.firstFrame === undefined && ids.length === 1) return { ...options, firstFrame: ids[0]! };
  return { ...options, referenceImage: [...(options.referenceImage ?? []), ...ids] };
}

/** Sends only the options that were given: the service has the defaults and the rules. */
function parametersOf(prompt: string, options: Options): Record<string, unknown> {
  const images = options.referenceImage;
  const takesOneImage = 'reference_image_url' in (findModel(options.model)?.parameters.properties ?? {});
  const parameters = {
    model: options.model,
    prompt,
    aspect_ratio: options.aspectRatio,
    resolution: options.resolution,
    n: options.n,
    quality: options.quality,
    output_format: options.outputFormat,
    output_compression: options.outputCompression,
    duration: options.duration,
    ...(takesOneImage && images?.length === 1 ? { reference_image_url: images[0] } : { reference_images: images }),
    first_frame_image_url: options.firstFrame,
    reference_mode: options.referenceMode,
  };
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}

/**
 * Creates a task, follows it to its final state and saves its outputs. Progress goes to stderr, file names to stdout.
 * @throws Error when the task fails
 */
export async function run(
  parameters: Record<string, unknown>,
  { url, key, out, json }: Pick<Options, 'url' | 'key' | 'out' | 'json'>,
): Promise<void> {
  const service = new ServiceClient(url, requireKey(key));
  // The idempotency key lets the client retry the creation without a second task, which could cost a second time.
  const created = await service.call<Task>('POST', '/v1/generations', parameters, { 'idempotency-key': randomUUID() });
  // It becomes part of a file name, so a hostile service could write outside of the folder.
  if (!isTaskId(created.task_id)) throw new Error('The service answered with an invalid task id.');
  console.error(created.task_id);
  const task = await follow(service, created);
  if (json) console.log(JSON.stringify(task, null, 2));
  if (task.status === 'failed') throw new Error(`${task.error?.code}: ${task.error?.message}`);

  const outputs = task.result?.outputs ?? [];
  for (const output of outputs) {
    if (!Number.isInteger(output.index)) throw new Error('The service answered with an invalid index of an output.');
    const file = await fileFor(output, created.task_id, out, outputs.length);
    await download(output, file);
    if (!json) console.log(file);
  }
}

async function follow(service: ServiceClient, task: Task): Promise<Task> {
  let printed = '';
  while (task.status === 'queued' || task.status === 'running') {
    const state = `${task.status} ${task.progress} %`;
    if (state !== printed) console.error(state);
    printed = state;
    task = await service.call<Task>('GET', `/v1/tasks/${task.task_id}?wait=${LONG_POLL_S}`);
  }
  console.error(task.status);
  return task;
}

/** `out` is a file name if the task has one output and `out` has an extension; otherwise a folder, created if missing. */
async function fileFor(output: Output, taskId: string, out: string, count: number): Promise<string> {
  const isFolder = (await stat(out).catch(() => null))?.isDirectory() ?? false;
  if (count === 1 && extname(out) !== '' && !isFolder) {
    await mkdir(dirname(out), { recursive: true });
    return out;
  }
  await mkdir(out, { recursive: true });
  return join(out, `${taskId}-${output.index}${EXTENSIONS[output.content_type] ?? ''}`);
}

/** Writes to `<file>.part` and renames it once it is complete and its hash is the one of the task. */
async function download({ url, sha256 }: Output, file: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
  if (!response.ok || !response.body) throw new Error(`The download failed with status ${response.status}.`);
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
    if (hash.digest('hex') !== sha256) throw new Error('The downloaded file is damaged: its SHA-256 differs.');
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
