import type { Readable } from 'node:stream';
import { toApiError, toErrorBody } from '../../errors/error.filter.ts';
import { findModel } from '../../models/catalog.ts';
import { toPixels } from '../../models/definition/sizes.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { resultOrPing } from '../../tasks/live/send-stream.ts';
import type { ShownTask, StoredOutput } from '../../tasks/record/task.entity.ts';
import { toBase64 } from './base64.ts';
import { filesOf } from './image-answer.ts';
import type { ImageRequest } from './image-request.ts';
import { imageUsageOf, NO_USAGE } from './image-usage.ts';

export interface PartialPicture {
  task: ShownTask;
  index: number;
  bytes: Readable;
}

/** What a stream reports. If the task ends, the last report is `final`, with the ended task. */
export type Happening = { partial: PartialPicture } | { final: ShownTask };

export interface EventSource {
  happenings: AsyncIterator<Happening>;
  /**
   * Called before the outcome is written.
   * @throws ApiError the error of a failed task
   */
  outcomeFollows(task: ShownTask): Promise<void>;
  storage: Storage;
  request: ImageRequest;
  /** How the names of events begin: `image_generation` or `image_edit`. */
  name: string;
  requestId: string;
  /** Rewrites errors with the client's names of parameters. */
  translate(thrown: unknown): unknown;
}

/** Server-sent events: pings while the task runs, its partial pictures, then the pictures or the error. */
export async function* imageEvents(source: EventSource): AsyncGenerator<string> {
  yield ': open\n\n'; // sends the headers at once
  try {
    let next = source.happenings.next();
    for (;;) {
      const result = await resultOrPing(next);
      if (result === 'ping') {
        yield ': ping\n\n';
        continue;
      }
      if (result.done) return;
      if ('final' in result.value) return yield* outcome(result.value.final, source);
      yield* partialEvent(result.value.partial, source);
      next = source.happenings.next();
    }
  } catch (thrown) {
    const body = toErrorBody(toApiError(source.translate(thrown)), source.requestId);
    yield `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  } finally {
    await source.happenings.return?.();
  }
}

async function* outcome(task: ShownTask, source: EventSource): AsyncGenerator<string> {
  await source.outcomeFollows(task);
  const files = filesOf(task);
  for (const file of files) {
    const bytes = await source.storage.open(file.storage_key);
    yield* event(`${source.name}.completed`, bytes, {
      ...details(task, source.request, file),
      // The tokens are those of all pictures. Only the last event has them, because a client may add up all events.
      usage: (file === files.at(-1) && imageUsageOf(task)) || NO_USAGE,
      index: file.index,
      seed: file.seed ?? null,
    });
  }
}

async function* partialEvent({ task, index, bytes }: PartialPicture, source: EventSource): AsyncGenerator<string> {
  yield* event(`${source.name}.partial_image`, bytes, {
    ...details(task, source.request, null),
    partial_image_index: index,
  });
}

/** One event with its data on one line, encoded while the picture is read. */
async function* event(type: string, bytes: Readable, rest: object): AsyncGenerator<string> {
  yield `event: ${type}\ndata: {"type":"${type}","b64_json":"`;
  yield* toBase64(bytes);
  yield `",${JSON.stringify(rest).slice(1)}\n\n`;
}

/** @param file null for a partial picture, which has the format and size that were asked for */
function details(task: ShownTask, { safetyIdentifier }: ImageRequest, file: StoredOutput | null): object {
  return {
    background: task.input.background ?? 'opaque',
    created_at: unixSeconds(task.created_at),
    output_format: file ? file.content_type.replace('image/', '') : (task.input.output_format ?? 'png'),
    quality: typeof task.input.quality === 'string' ? task.input.quality : 'auto',
    size: file ? toPixels(file) : requestedSize(task),
    ...(safetyIdentifier !== undefined && { safety_identifier: safetyIdentifier }),
    task_id: task.id,
  };
}

function requestedSize({ model, input }: ShownTask): string {
  const {
    aspect_ratio,
    resolution,
    size: exact,
  } = input as Record<'aspect_ratio' | 'resolution', string> & { size?: string };
  if (exact !== undefined) return exact;
  const size = findModel(model)?.sizes[aspect_ratio]?.[resolution];
  return size ? toPixels(size) : 'auto';
}
