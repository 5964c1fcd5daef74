import { Injectable } from '@nestjs/common';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { shareOwner } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { BatchFiles } from '../../files/uploads/batch-files.ts';
import { type RequestImages, RequestImagesService } from '../../files/images/request-images.service.ts';
import { type PreparedGeneration, PrepareGenerations } from '../../generation/accept/prepare-generations.ts';
import { MEDIA_KINDS } from '../../models/definition/media-kind.ts';
import { Config } from '../../platform/config/config.ts';
import { Turns } from '../../platform/run/turns.ts';
import { currentRequest } from '../../platform/observe/logging/request-context.ts';
import { DAY_MS } from '../../platform/schema/time.ts';
import { readIdempotencyKey, requestHash } from '../../tasks/acts/idempotency.ts';
import { type BatchItem, TaskBatches } from '../../tasks/acts/task-batches.ts';
import { newBatchId } from '../../tasks/record/task-id.ts';
import type { TaskPriority } from '../../tasks/record/task-priority.ts';
import { type BatchFault, MAX_SHOWN_FAULTS } from '../record/batch-fault.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { BatchViews } from '../record/batch-views.ts';
import type { BatchView } from '../record/batch.view.ts';
import { BatchEndsWorker } from '../end/batch-ends.worker.ts';
import { BatchRows, type NewBatchRow } from '../sql/batch-rows.ts';
import { type BatchEndpoint, BatchEndpoints, NATIVE_PATH, type TranslatedItem } from './batch-endpoints.ts';
import { type GivenItem, readLines, readRequests } from './read-items.ts';
import { METADATA } from '../../models/definition/parameters.ts';
import { FROM_API } from '../../tasks/record/task-origin.ts';
import { hasAtMost } from '../../platform/schema/code-points.ts';
import { checkInput } from '../../platform/http/input.pipe.ts';
import { CreateBatchInput } from '../record/batch.inputs.ts';

/** An item with the task to create from it, or with the error that makes the item invalid. */
type InspectedItem = GivenItem & { index: number; verdict: PreparedGeneration | ApiError };

/** null for an invalid item */
const imagesOf = ({ verdict }: InspectedItem): RequestImages | null =>
  verdict instanceof ApiError ? null : verdict.images;

/** null for an invalid item */
function toBatchItem({ index, customId, verdict }: InspectedItem): BatchItem | null {
  if (verdict instanceof ApiError) return null;
  const { request, origin } = verdict;
  return { index, customId, request, origin: { ...FROM_API, ...origin, source: 'batch' } };
}

/** null for a valid item */
function faultOf({ index, line, customId, verdict }: InspectedItem): BatchFault | null {
  if (!(verdict instanceof ApiError)) return null;
  const { code, param, message } = verdict;
  return { index, line, custom_id: customId, code, param, message };
}

function batchInvalid(faults: BatchFault[], total: number): ApiError {
  const [first] = faults;
  const message = `${faults.length} of ${total} items are invalid, so nothing was created. Item ${first?.index}: ${first?.message}`;
  return new ApiError('batch_invalid', { message, errors: faults.slice(0, MAX_SHOWN_FAULTS) });
}

/**
 * The most invalid items that all batches of an API key may have together. The limits on tasks and on cost do not bound
 * them, because invalid items have no task. The faults of invalid items are stored as long as their batch. Concurrent
 * creations may exceed this limit a little.
 */
const MAX_INVALID = 100_000;

/** The validated settings of a batch. Its `requests` are not validated yet. */
type BatchSettings = Omit<CreateBatchInput, 'requests'> & { requests?: unknown };

/**
 * Validates everything but the endpoint and the items.
 * @throws ApiError for the first fault
 */
function readBatch({ requests, ...rest }: Record<string, unknown>): BatchSettings {
  const settings: BatchSettings = checkInput(CreateBatchInput, rest);
  assertMetadata(settings.metadata ?? {});
  if (requests !== undefined && settings.input_file_id !== undefined) {
    const message = 'Send requests or input_file_id, not both.';
    throw new ApiError('invalid_value', { param: 'input_file_id', message });
  }
  if (requests === undefined && settings.input_file_id === undefined) {
    const message = 'requests or input_file_id is required.';
    throw new ApiError('missing_required_parameter', { param: 'requests', message });
  }
  return { ...settings, requests };
}

/** The metadata of a batch has the same limits as the metadata of a task. @throws ApiError */
function assertMetadata(metadata: Record<string, string>): void {
  const pairs = Object.entries(metadata);
  if (pairs.length > METADATA.pairs) {
    const message = `metadata must have at most ${METADATA.pairs} entries.`;
    throw new ApiError('too_many_items', { param: 'metadata', message });
  }
  for (const [key, value] of pairs) {
    const isBadText = [key, value].some((text) => text.includes('\0') || !text.isWellFormed());
    if (isBadText) throw new ApiError('invalid_unicode', { param: 'metadata' });
    if (key === '') throw new ApiError('invalid_value', { param: 'metadata', message: 'A key must not be empty.' });
    if (hasAtMost(key, METADATA.key) && hasAtMost(value, METADATA.value)) continue;
    const message = `Keys of metadata have at most ${METADATA.key} characters, values at most ${METADATA.value}.`;
    throw new ApiError('string_too_long', { param: 'metadata', message });
  }
}

/**
 * The most batches that this process creates at a time. Each may hold a file of 20 MB in memory with its parsed items,
 * and takes the main thread and the database for up to a second, even if it is refused in the end.
 */
const AT_ONCE = 3;
/**
 * How many of the AT_ONCE batches may be of one `shareOwner`: an API key, or a key with limits and the keys below it.
 */
const OF_A_KEY = 1;
const MAX_WAIT_MS = 30_000;
/** How many items are translated before other requests of this process get their turn. */
const TRANSLATED_AT_ONCE = 50;

export interface CreatedBatch {
  id: string;
  /** The answer for REST. A repeated Idempotency-Key returns the first answer byte for byte. */
  json: string;
  replayed: boolean;
}

/** Validates batches and stores each in one transaction. */
@Injectable()
export class CreateBatches {
  private readonly turns = new Turns(AT_ONCE, { ofOwner: OF_A_KEY });

  constructor(
    private readonly config: Config,
    private readonly files: BatchFiles,
    private readonly images: RequestImagesService,
    private readonly prepares: PrepareGenerations,
    private readonly endpoints: BatchEndpoints,
    private readonly tasks: TaskBatches,
    private readonly rows: BatchRows,
    private readonly ends: BatchEndsWorker,
    private readonly views: BatchViews,
  ) {}

  /**
   * @param body in the field names of REST
   * @param header the Idempotency-Key, bare or quoted
   * @param gone aborts when the client has closed the connection
   * @throws ApiError batch_invalid with the faults of the items, or any error that creating one task may have. No task
   *   is stored then
   */
  async create(
    caller: Caller,
    body: Record<string, unknown>,
    header: string | undefined,
    gone: AbortSignal,
  ): Promise<CreatedBatch> {
    const key = readIdempotencyKey(header);
    const reserved = key === null ? null : { key, requestHash: requestHash(['POST /v1/batches', body]) };
    const first = reserved && (await this.tasks.firstAnswer(caller, reserved));
    if (first) return replay(first);

    const settings = readBatch(body);
    const endpoint = this.endpoints.find(settings.endpoint ?? NATIVE_PATH);
    const create = async () => {
      const given = await this.read(caller, settings, endpoint);
      const items = await this.inspect(caller, given, (body) => translate(endpoint, caller, body, settings.priority));
      return this.keepingImages(items, () => this.store({ caller, settings, endpoint, items, reserved }));
    };
    let created: StoredBatch;
    try {
      const leave = await this.turn(caller, gone);
      created = await create().finally(leave);
    } catch (error) {
      const meanwhile = reserved && error instanceof ApiError && (await this.tasks.firstAnswer(caller, reserved));
      if (!meanwhile) throw error;
      return replay(meanwhile); // an equal request has created its batch in the meantime
    }
    // A batch usually ends when its last task ends. A batch without tasks ends here.
    if (!created.replayed && created.tasks === 0) await this.ends.check(created.id).catch(() => undefined);
    return created;
  }

  /** @throws ApiError service_unavailable after MAX_WAIT_MS, or when the client is gone */
  private async turn(caller: Caller, gone: AbortSignal): Promise<() => void> {
    const tooLong = AbortSignal.timeout(MAX_WAIT_MS);
    try {
      return await this.turns.enter(shareOwner(caller), AbortSignal.any([gone, tooLong]));
    } catch {
      const message = `The batches of an API key are created one at a time, and this one has waited ${MAX_WAIT_MS / 1000} s.`;
      throw new ApiError('service_unavailable', { message, retryAfterS: 1 });
    }
  }

  private async read(caller: Caller, settings: BatchSettings, endpoint: BatchEndpoint): Promise<GivenItem[]> {
    const { input_file_id: fileId, requests } = settings;
    if (fileId === undefined) return readRequests(requests, this.config.batchMaxItems);
    const bytes = await this.files.read(caller, fileId, 'input_file_id');
    return readLines(bytes, endpoint.path, this.config.batchMaxItems);
  }

  private async inspect(
    caller: Caller,
    given: GivenItem[],
    translate: (body: Record<string, unknown>) => TranslatedItem | ApiError,
  ): Promise<InspectedItem[]> {
    const translated: (TranslatedItem | ApiError)[] = [];
    for (const { body } of given) {
      translated.push(body instanceof ApiError ? body : translate(body));
      if (translated.length % TRANSLATED_AT_ONCE === 0) await endOfTurn();
    }
    const needS = Math.max(...MEDIA_KINDS.map((kind) => this.prepares.needS({ kind, low: true, source: 'batch' })));
    const verdicts = await this.prepares.prepareAll(caller, translated, needS);
    return given.map((item, index) => {
      const [verdict, own] = [verdicts[index]!, translated[index]!];
      const isRewritten = verdict instanceof ApiError && !(own instanceof ApiError) && own.inClientWords;
      return { ...item, index, verdict: isRewritten ? isRewritten(verdict) : verdict };
    });
  }

  /** @throws ApiError batch_invalid */
  private async store({ caller, settings, endpoint, items, reserved }: ValidBatch): Promise<StoredBatch> {
    const invalid = items.flatMap((item) => faultOf(item) ?? []);
    if (invalid.length > 0 && settings.on_invalid !== 'skip') throw batchInvalid(invalid, items.length);
    if (invalid.length > 0) await this.assertRoom(caller, invalid, items.length);
    const valid = items.flatMap((item) => toBatchItem(item) ?? []);
    const createdMs = this.tasks.nowMs();
    const row: NewBatchRow = {
      id: newBatchId(createdMs),
      api_key_id: caller.apiKeyId,
      endpoint: endpoint.path,
      input_file_id: settings.input_file_id ?? null,
      metadata: settings.metadata ?? {},
      total: items.length,
      invalid: invalid.length > 0 ? invalid : null,
      errors: invalid.length > 0 ? invalid.slice(0, MAX_SHOWN_FAULTS) : null,
      request_id: currentRequest.getStore()?.id ?? null,
      created_at: new Date(createdMs),
      kept_until: new Date(createdMs + caller.limits.taskRetentionDays * DAY_MS),
    };
    const json = this.views.json(newBatch(row, valid.length));
    const { tasks, replayed } = await this.tasks.create(caller, {
      id: row.id,
      createdMs,
      taskEvents: settings.task_events ?? true,
      items: valid,
      idempotency: reserved && { ...reserved, response: json },
      writeRecord: (tx) => this.rows.insert(tx, row),
    });
    if (replayed !== null) return { ...replay(replayed), tasks: 0 };
    await this.attachImages(items, (index) => tasks.get(index)!);
    return { id: row.id, json, replayed: false, tasks: valid.length };
  }

  /**
   * Refuses a batch with which the API key would have more than MAX_INVALID invalid items.
   * @throws ApiError batch_invalid
   */
  private async assertRoom({ apiKeyId }: Caller, invalid: BatchFault[], total: number): Promise<void> {
    if ((await this.rows.invalidItemsOf(apiKeyId)) + invalid.length <= MAX_INVALID) return;
    const { message, errors } = batchInvalid(invalid, total);
    const skipped = `The batches of this API key have ${MAX_INVALID} invalid items, as many as are skipped.`;
    throw new ApiError('batch_invalid', { message: `${skipped} ${message}`, errors });
  }

  /**
   * Runs `store`. Files that came inside the bodies are kept with the tasks. They are deleted if `store` creates no
   * tasks.
   */
  private async keepingImages(items: InspectedItem[], store: () => Promise<StoredBatch>): Promise<StoredBatch> {
    let stored: StoredBatch | undefined;
    try {
      stored = await store();
      return stored;
    } finally {
      if (!stored || stored.replayed) await this.images.forgetAll(items.flatMap((item) => imagesOf(item) ?? []));
    }
  }

  private async attachImages(
    items: InspectedItem[],
    taskOf: (index: number) => { id: string; expires_at: Date },
  ): Promise<void> {
    for (const item of items) {
      const images = imagesOf(item);
      if (images && images.created.length > 0) await this.images.attach(images, taskOf(item.index));
    }
  }
}

interface ValidBatch {
  caller: Caller;
  settings: BatchSettings;
  endpoint: BatchEndpoint;
  items: InspectedItem[];
  reserved: { key: string; requestHash: string } | null;
}

type StoredBatch = CreatedBatch & { tasks: number };

const replay = (json: string): CreatedBatch => ({ id: (JSON.parse(json) as BatchView).id, json, replayed: true });

/** @param priority the priority of items that name none */
function translate(
  endpoint: BatchEndpoint,
  caller: Caller,
  body: Record<string, unknown>,
  priority: TaskPriority = 'low',
): TranslatedItem | ApiError {
  try {
    const item = endpoint.translate(body, caller);
    return { ...item, body: { priority, ...item.body } };
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error;
    throw error;
  }
}

const newBatch = ({ invalid, request_id: _request, ...row }: NewBatchRow, queued: number): ShownBatch => ({
  ...row,
  status: 'in_progress',
  invalid_items: invalid?.length ?? 0,
  queued,
  running: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  cancelling_at: null,
  ended_at: null,
  usage: null,
});
