import { Readable } from 'node:stream';
import { ApiError } from '../../errors/api-error.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { unixSeconds } from '../../platform/time.ts';
import { isPresent, type TaskView } from '../../tasks/task.view.ts';
import type { ShownTask, StoredOutput } from '../../tasks/task.entity.ts';
import { toBase64 } from './base64.ts';
import type { ImageRequest } from './image-request.ts';
import { imageUsageOf } from './image-usage.ts';

/** Everything of the answer but `created` and `data`. */
function answerDetails(
  stored: ShownTask,
  task: TaskView,
  { safetyIdentifier }: Pick<ImageRequest, 'safetyIdentifier'>,
): object {
  const usage = imageUsageOf(stored);
  const [first] = task.result?.outputs ?? [];
  return {
    background: 'opaque',
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

/** The answer with links. */
export function answerWithLinks(
  task: ShownTask,
  view: TaskView,
  request: Pick<ImageRequest, 'safetyIdentifier'>,
): string {
  filesOf(task);
  const data = view.result?.outputs.map(({ url }) => ({ url })) ?? [];
  return JSON.stringify({ created: unixSeconds(task.created_at), data, ...answerDetails(task, view, request) });
}

export interface StreamedAnswer {
  bytes: Readable;
  length: number;
}

/**
 * The answer with the pictures themselves, encoded while they are read from storage, so that ten 4K images are never in
 * memory at once. Its length is known, so a client notices an answer that breaks off.
 * @throws ApiError file_expired; StoredFileMissing for the first file, while the HTTP status can still be chosen
 */
export async function answerWithBytes(
  task: ShownTask,
  view: TaskView,
  request: ImageRequest,
  storage: Storage,
): Promise<StreamedAnswer> {
  const files = filesOf(task);
  const head = `{"created":${unixSeconds(task.created_at)},"data":[`;
  const tail = `],${JSON.stringify(answerDetails(task, view, request)).slice(1)}`;
  const [first] = files;
  const opened = first && (await storage.open(first.storage_key));
  const encoded = files.reduce((sum, { size_bytes }) => sum + 4 * Math.ceil(size_bytes / 3), 0);
  const around = files.length * (BEFORE.length + AFTER.length) + Math.max(0, files.length - 1);
  // Strings, which the socket writes as they are: as buffers they would wait outside the heap for a collection.
  const bytes = Readable.from(write(head, files, tail, { storage, opened }));
  bytes.once('close', () => opened?.destroy()); // also when nothing was read
  return { bytes, length: Buffer.byteLength(head) + encoded + around + Buffer.byteLength(tail) };
}

const BEFORE = '{"b64_json":"';
const AFTER = '"}';

interface Source {
  storage: Storage;
  /** The first file. */
  opened: Readable | undefined;
}

async function* write(head: string, files: StoredOutput[], tail: string, source: Source): AsyncGenerator<string> {
  yield head;
  for (const [at, { storage_key }] of files.entries()) {
    const file = at === 0 && source.opened ? source.opened : await source.storage.open(storage_key);
    yield at === 0 ? BEFORE : `,${BEFORE}`;
    yield* toBase64(file);
    yield AFTER;
  }
  yield tail;
}
