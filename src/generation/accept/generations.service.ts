import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { NO_IMAGES, type RequestImages, RequestImagesService } from '../../files/images/request-images.service.ts';
import { catalog } from '../../models/catalog.ts';
import { imageUrlsOf } from '../../models/definition/parameters.ts';
import { lifecycleHeaders, lifecycleOf, type Model } from '../../models/definition/model.ts';
import { readIdempotencyKey, requestHash, type ReservedKey } from '../../tasks/acts/idempotency.ts';
import type { Approximation, ShownTask } from '../../tasks/record/task.entity.ts';
import { FROM_API, type TaskOrigin } from '../../tasks/record/task-origin.ts';
import { rememberStored, TaskViews } from '../../tasks/read/task-views.ts';
import type { TaskView } from '../../tasks/read/task.view.ts';
import type { TaskRequest } from '../../tasks/acts/new-tasks.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import type { ParsedGeneration } from './parse-generation.ts';
import { PrepareGenerations, withFiles } from './prepare-generations.ts';

interface AcceptOptions {
  /** What the calling interface knows of the origin of the task; absent for `createGeneration` of REST and GraphQL. */
  origin?: Partial<TaskOrigin>;
  /** The idempotency key as the client sent it, bare or quoted. */
  idempotencyKey?: string | undefined;
  /**
   * In place of `idempotencyKey`: returns the key under which to store the task. Called when the request is valid,
   * before the task is stored.
   */
  reserveKey?: () => Promise<ReservedKey>;
  /** What the calling interface had to approximate to translate its own request into this one. */
  approximations?: Approximation[];
  /** The most seconds to wait for the final state before answering. */
  waitS?: number;
  /** Aborts when the client has closed the connection, or its API key is refused. */
  gone?: AbortSignal | undefined;
  /** Runs `wait` and measures how long it takes. */
  waiting?: <Result>(wait: () => Promise<Result>) => Promise<Result>;
}

/** The answer to a creation. */
export interface Acceptance {
  taskId: string;
  /** The model as it is loaded now; null when it is gone. */
  model: Model | null;
  /** The task as the JSON of REST. A repeated idempotency key returns the first answer byte for byte. */
  json(): string;
  /** The same task for GraphQL. */
  view(): TaskView;
  replayed: boolean;
  /** The stored task; null for a repeated answer. */
  task: ShownTask | null;
}

/** Headers of the 201 answer over REST. */
export const acceptanceHeaders = ({ taskId, model, replayed }: Acceptance): Record<string, string> => ({
  location: `/v1/tasks/${taskId}`,
  'content-type': 'application/json; charset=utf-8',
  ...(model && { ...lifecycleHeaders({ lifecycle: lifecycleOf(model) }), 'model-version': model.version }),
  ...(replayed && { 'idempotent-replayed': 'true' }),
});

/** @param first the stored answer to the first request with the same Idempotency-Key */
export function replay(first: { task_id: string; response: string }, model: Model | null): Acceptance {
  return {
    taskId: first.task_id,
    model,
    json: () => first.response,
    view: () => JSON.parse(first.response) as TaskView,
    replayed: true,
    task: null,
  };
}

/** A task that was just stored, or the answer to the earlier request with the same idempotency key. */
type Stored = Awaited<ReturnType<TasksService['create']>> & {
  /** The JSON of the answer, if the task was stored with an idempotency key. */
  json?: string | undefined;
};

interface KeyedCreation {
  caller: Caller;
  request: TaskRequest;
  origin: TaskOrigin;
  body: unknown;
  header: string | null;
  reserveKey: AcceptOptions['reserveKey'];
}

interface WaitedFor {
  caller: Caller;
  model: Model;
  task: ShownTask;
  header: string | null;
  options: AcceptOptions;
}

/** Validates a request and stores it as a task; workers do the rest. */
@Injectable()
export class GenerationsService {
  constructor(
    private readonly tasks: TasksService,
    private readonly views: TaskViews,
    private readonly images: RequestImagesService,
    private readonly prepares: PrepareGenerations,
  ) {}

  /**
   * @param body as the client sent it, in the field names of REST
   * @throws ApiError for the first fault found; then no task is stored
   */
  async accept(caller: Caller, body: unknown, options: AcceptOptions): Promise<Acceptance> {
    const header = readIdempotencyKey(options.idempotencyKey);
    const parsed = this.parsed(caller, body);
    if (parsed instanceof ApiError) {
      // An earlier request with this key may have been valid: its model may have been removed or changed since.
      const first = header === null ? null : await this.tasks.firstResponse(caller.apiKeyId, header, requestHash(body));
      if (first) return replay(first, loadedModelOf(body));
      throw parsed;
    }
    const { model, input, metadata, priority, parentTaskId } = parsed;
    // Most creations have no parent, images, idempotency key or wait. Each of these is awaited only if it is given,
    // because every await costs time.
    const parent = parentTaskId === null ? {} : await this.prepares.parentOf(caller, parentTaskId);
    const origin = { ...FROM_API, ...options.origin, ...parent };
    const refusal = this.prepares.refusalOf(model);
    const fields = imageUrlsOf(model, input);
    const needS = () => this.prepares.needS({ kind: model.kind, low: priority === 'low', source: origin.source });
    const images =
      refusal ?? (fields.length === 0 ? NO_IMAGES : await this.images.resolve(caller, fields, needS()).catch(asResult));
    if (!isResolved(images)) {
      // An earlier request with this key may have succeeded before a file was deleted or the model was paused.
      const first = header === null ? null : await this.tasks.firstResponse(caller.apiKeyId, header, requestHash(body));
      if (first) return replay(first, model);
      throw images;
    }
    const { approximations, reserveKey, waitS = 0 } = options;
    const resolved = withFiles(model, input, images);
    const request = this.prepares.requestOf({ model, input: resolved, metadata, priority, approximations });
    const isKeyed = header !== null || reserveKey !== undefined;
    const create = (): Promise<Stored> =>
      isKeyed
        ? this.createKeyed({ caller, request, origin, body, header, reserveKey })
        : this.tasks.create(caller, request, null, origin);
    const { task, replayed, json } = await (images === NO_IMAGES ? create() : this.attaching(images, create));
    if (replayed) return replay(replayed, model);
    if (waitS === 0) return this.acceptance(task, model, json);
    return this.whenFinal({ caller, model, task, header, options });
  }

  /**
   * The task for GraphQL. Some of its fields need the stored task, so a repeated answer reads the stored task. If the
   * task was deleted, those fields fail with task_not_found.
   */
  async viewOf({ apiKeyId }: Caller, accepted: Acceptance): Promise<TaskView> {
    const view = accepted.view();
    if (!accepted.replayed) return view;
    const find = this.tasks.find(apiKeyId, accepted.taskId);
    const stored = await find.catch((error: unknown) => (isNotFound(error) ? null : rethrow(error)));
    return stored ? rememberStored(view, stored) : view;
  }

  /**
   * Validates the body as `accept` does, and stores nothing.
   * @throws ApiError for the first fault found
   */
  async check(caller: Caller, body: unknown): Promise<ParsedGeneration> {
    const parsed = this.prepares.parse(caller, body);
    await this.prepares.parentOf(caller, parsed.parentTaskId);
    await this.images.check(caller, imageUrlsOf(parsed.model, parsed.input));
    return parsed;
  }

  /**
   * Runs a creation. Files that the request brought with it are kept as long as the new task. Without a new task they
   * are deleted.
   */
  private async attaching<Creation extends { task: ShownTask; replayed: object | null }>(
    images: RequestImages,
    create: () => Promise<Creation>,
  ): Promise<Creation> {
    try {
      const creation = await create();
      if (creation.replayed) await this.images.forget(images);
      else await this.images.attach(images, creation.task);
      return creation;
    } catch (error) {
      await this.images.forget(images);
      throw error;
    }
  }

  private async createKeyed({ caller, request, origin, body, header, reserveKey }: KeyedCreation): Promise<Stored> {
    const reserved = header === null ? await reserveKey?.() : { key: header, requestHash: requestHash(body) };
    if (!reserved) return this.tasks.create(caller, request, null, origin);
    let json: string | undefined;
    const idempotencyOf = (created: ShownTask) => ({
      idempotency_key: reserved.key,
      request_hash: reserved.requestHash,
      response: (json = this.views.json(created)),
    });
    const created = await this.tasks.create(caller, request, idempotencyOf, origin);
    return { ...created, json };
  }

  /** Answers with the final task, or with the unfinished one when the wait ends earlier. */
  private async whenFinal({ caller: { apiKeyId }, model, task, header, options }: WaitedFor): Promise<Acceptance> {
    const { waitS = 0, gone, waiting = run } = options;
    const wait = () => this.tasks.findWhenFinal(apiKeyId, task.id, waitS, { gone });
    // A task that is not found was deleted meanwhile. The answer then shows the task as it was stored.
    const latest = await waiting(wait).catch((error: unknown) => (isNotFound(error) ? task : rethrow(error)));
    const json = this.views.json(latest);
    if (header !== null) await this.tasks.answeredWith(apiKeyId, header, task.id, json);
    return this.acceptance(latest, model, json);
  }

  private parsed(caller: Caller, body: unknown): ParsedGeneration | ApiError {
    try {
      return this.prepares.parse(caller, body);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  private acceptance(task: ShownTask, model: Model, json?: string): Acceptance {
    return {
      taskId: task.id,
      model,
      json: () => json ?? this.views.json(task),
      view: () => this.views.forGraphql(task),
      replayed: false,
      task,
    };
  }
}

function loadedModelOf(body: unknown): Model | null {
  const { model } = (body ?? {}) as { model?: unknown };
  return (typeof model === 'string' && catalog.loaded(model)) || null;
}

const asResult = (error: unknown): unknown => error;

const run = <Result>(wait: () => Promise<Result>): Promise<Result> => wait();

const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 'task_not_found';

function rethrow(error: unknown): never {
  throw error;
}

const isResolved = (images: unknown): images is RequestImages =>
  typeof images === 'object' && images !== null && 'replaced' in images;
