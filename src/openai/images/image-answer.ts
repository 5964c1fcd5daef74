import { Readable } from 'node:stream';
import { ApiError } from '../../errors/api-error.ts';
import type { FreshOutputs } from '../../generation/run/fresh-outputs.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { isPresent, type TaskView } from '../../tasks/read/task.view.ts';
import type { ShownTask, StoredOutput } from '../../tasks/record/task.entity.ts';
import { toBase64 } from './base64.ts';
import type { ImageRequest } from './image-request.ts';
import { imageUsageOf } from './image-usage.ts';

/** All fields of the answer except `created` and `data`. */
function answerDetails(
  stored: ShownTask,
  task: TaskView,
  { safetyIdentifier }: Pick<ImageRequest, 'safetyIdentifier'>,
): object {
  const usage = imageUsageOf(stored);
  const [first] = task.result?.outputs ?? [];
  return {
    background: task.input.background ?? 'opaque',
    output_format: first?.content_type.replace('image/', ''),
    ...(typeof task.input.quality === 'string' && { quality: task.input.quality }),
    size: `${first?.width}x${first?.height}`,
    ...(usage && { usage }),
    ...(safetyIdentifier !== undefined && { safety_identifier: safetyIdentifier }),
    task_id: task.task_id,
    ...(task.approximations && { approximations: task.approximations }),
  };
}

/** The stored files of a succeeded task. @throws ApiError file_expired */
export function filesOf(task: ShownTask): StoredOutput[] {
  const files = task.result ?? [];
  if (files.some((file) => !isPresent(task, file))) throw new ApiError('file_expired');
  return files;
}

export function answerWithLinks(
  task: ShownTask,
  view: TaskView,
  request: Pick<ImageRequest, 'safetyIdentifier'>,
): string {
  filesOf(task);
  const data = view.result?.outputs.map(({ url, seed }) => ({ url, seed })) ?? [];
  return JSON.stringify({ created: unixSeconds(task.created_at), data, ...answerDetails(task, view, request) });
}

export interface Files {
  storage: Storage;
  fresh: FreshOutputs;
}

export interface AnswerWithBytes {
  /** A string if the answer is short and all its files are in memory. */
  body: Readable | string;
  length: number;
}

/** Maximum length of an answer that is sent as one string. */
const MAX_TEXT = 256 * 1024;
/** Bytes of a file in memory that are encoded at once. A multiple of three, so that only the last piece is padded. */
const PIECE_BYTES = 192 * 1024;

/**
 * The answer with the pictures themselves. A long answer is encoded while it is sent, so the text of ten 4K images is
 * never in memory at once. The length is known in advance, so a client notices an answer that breaks off.
 * @throws ApiError file_expired; StoredFileMissing for the first file, while the HTTP status can still be chosen
 */
export async function answerWithBytes(
  task: ShownTask,
  view: TaskView,
  request: ImageRequest,
  { storage, fresh }: Files,
): Promise<AnswerWithBytes> {
  const files = filesOf(task);
  const head = `{"created":${unixSeconds(task.created_at)},"data":[`;
  const tail = `],${JSON.stringify(answerDetails(task, view, request)).slice(1)}`;
  const encoded = files.reduce((sum, { size_bytes }) => sum + 4 * Math.ceil(size_bytes / 3), 0);
  const after = files.map(({ seed = null }) => `","seed":${seed}}`);
  const around = files.length * BEFORE.length + after.join(',').length;
  const length = Buffer.byteLength(head) + encoded + around + Buffer.byteLength(tail);
  const kept = files.map(({ storage_key }) => fresh.find(task.id, storage_key));
  if (length <= MAX_TEXT && kept.every((file) => file !== null)) {
    const data = kept.map((file, at) => BEFORE + file.toString('base64') + after[at]!).join(',');
    return { body: head + data + tail, length };
  }
  const [first] = files;
  const opened = first && !kept[0] ? await storage.open(first.storage_key) : undefined;
  const encode = (at: number) => {
    const file = kept[at];
    if (file) return encodeKept(file);
    return encodeStored(at === 0 && opened ? opened : storage.open(files[at]!.storage_key));
  };
  // The stream has strings, because the socket writes them as they are. Buffers would use memory outside the heap until
  // the next garbage collection.
  const body = Readable.from(write(head, after, tail, encode));
  body.once('close', () => opened?.destroy()); // even if nothing was read
  return { body, length };
}

const BEFORE = '{"b64_json":"';

async function* encodeStored(file: Readable | Promise<Readable>): AsyncGenerator<string> {
  yield* toBase64(await file);
}

function* encodeKept(file: Buffer): Generator<string> {
  for (let at = 0; at < file.length; at += PIECE_BYTES)
    yield file.toString('base64', at, Math.min(at + PIECE_BYTES, file.length));
}

async function* write(
  head: string,
  after: readonly string[],
  tail: string,
  encode: (at: number) => Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  yield head;
  for (const [at, end] of after.entries()) {
    yield at === 0 ? BEFORE : `,${BEFORE}`;
    yield* encode(at);
    yield end;
  }
  yield tail;
}
