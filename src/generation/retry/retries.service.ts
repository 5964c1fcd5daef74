import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { findModel } from '../../models/catalog.ts';
import { replaceImageUrls } from '../../models/definition/parameters.ts';
import type { Model } from '../../models/definition/model.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { readIdempotencyKey, requestHash, type ReservedKey } from '../../tasks/acts/idempotency.ts';
import type { TaskSource } from '../../tasks/record/task-origin.ts';
import { isFinal } from '../../tasks/record/task.entity.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { type Acceptance, GenerationsService, replay } from '../accept/generations.service.ts';
import { repeatRequest } from './repeated-request.ts';
import type { RetryTaskInput } from './retry-task.input.ts';

export interface RetryOptions {
  /** The idempotency key as the client sent it, bare or quoted. */
  idempotencyKey?: string | undefined;
  /** Used in place of `idempotencyKey`, as in `GenerationsService.accept`. */
  reserveKey?: () => Promise<ReservedKey>;
  /** The interface that asks for the retry; absent for REST and GraphQL. */
  source?: TaskSource;
}

/** Makes new tasks from the resolved input of final tasks. */
@Injectable()
export class RetriesService {
  constructor(
    private readonly generations: GenerationsService,
    private readonly tasks: TasksService,
    private readonly links: FileLinks,
  ) {}

  /**
   * @param options an idempotency key is refused if it was used for another task, for other changes, or for a creation
   * @throws ApiError task_not_found; task_unfinished; file_expired when an image of the first task is gone; and the
   *   errors of a creation, with the field in `input` as `param`
   */
  async retry(
    caller: Caller,
    taskId: string,
    changes: RetryTaskInput,
    { idempotencyKey, ...options }: RetryOptions,
  ): Promise<Acceptance> {
    const key = readIdempotencyKey(idempotencyKey);
    const reserved = key === null ? null : { key, requestHash: hashOf(taskId, changes) };
    const reserveKey = reserved ? async () => reserved : options.reserveKey;
    try {
      return await this.create(caller, taskId, changes, { ...options, ...(reserveKey && { reserveKey }) });
    } catch (error) {
      const first = reserved && (await this.firstAnswer(caller, reserved)); // an equal retry may have succeeded before
      if (!first) throw error;
      return first;
    }
  }

  private async create(
    caller: Caller,
    taskId: string,
    { input: changes = {}, metadata, priority }: RetryTaskInput,
    { source, reserveKey }: Pick<RetryOptions, 'source' | 'reserveKey'>,
  ): Promise<Acceptance> {
    const first = await this.tasks.find(caller.apiKeyId, taskId);
    if (!isFinal(first.status)) throw new ApiError('task_unfinished', { param: 'task_id' });
    const model = findModel(first.model);
    if (!model) throw new ApiError('model_not_found', { status: 400, param: 'model' });
    const { parameters, isChanged } = repeatRequest(model, first.input, changes);
    const body = {
      ...this.withFileIds(model, parameters, changes),
      model: first.model,
      metadata: metadata ?? first.metadata,
      priority: priority ?? (first.low ? 'low' : 'normal'),
    };
    try {
      return await this.generations.accept(caller, body, {
        ...(reserveKey && { reserveKey }),
        origin: { ...(source && { source }), parent: first.id, relation: isChanged ? 'variation' : 'retry' },
      });
    } catch (error) {
      throw error instanceof ApiError ? asChange(error, changes) : error;
    }
  }

  /**
   * Replaces invalid and expired links to files of this service by file ids, because the file may still exist and
   * belong to the caller. Links in `changes` stay unchanged.
   */
  private withFileIds(model: Model, parameters: Record<string, unknown>, changes: object): Record<string, unknown> {
    const kept = Object.entries(parameters).filter(([name]) => !Object.hasOwn(changes, name));
    const replaced = replaceImageUrls(model, Object.fromEntries(kept), ({ url }) => {
      const link = this.links.parse(url);
      return !link || this.links.verify(link.fileId, link.expires, link.signature) ? null : link.fileId;
    });
    return { ...parameters, ...replaced };
  }

  private async firstAnswer(caller: Caller, { key, requestHash: hash }: ReservedKey): Promise<Acceptance | null> {
    const first = await this.tasks.firstResponse(caller.apiKeyId, key, hash);
    if (!first) return null;
    return replay(first, findModel((JSON.parse(first.response) as { model: string }).model) ?? null);
  }
}

/** Differs from the hash of every creation, because no creation has a field `retry`. */
const hashOf = (taskId: string, { input, metadata, priority }: RetryTaskInput): string =>
  requestHash({ retry: taskId, ...(input && { input }), ...(metadata && { metadata }), ...(priority && { priority }) });

/**
 * Rewrites the error of the creation for the client of a retry. `param` names the field as that client writes it. If a
 * file of the first task is not found, the error says that the file is gone.
 */
function asChange(error: ApiError, changes: object): ApiError {
  const [field = ''] = /^\w+/.exec(error.param ?? '') ?? [];
  if (error.status !== 400 || SHARED_FIELDS.has(field) || error.param === null) return error;
  const isGone = error.code === 'file_not_found' && !Object.hasOwn(changes, field);
  const param = `input.${error.param}`;
  const message = isGone
    ? `${param}: the file that the first task used is gone. Replace it or take it out with input.`
    : error.message;
  return new ApiError(isGone ? 'file_expired' : error.code, { param, message, status: 400, cause: error });
}

/**
 * What the first word of an error's `param` may be when it names no parameter of a model. `Idempotency` is the first
 * word of `Idempotency-Key`.
 */
const SHARED_FIELDS = new Set(['', 'model', 'metadata', 'priority', 'parent_task_id', 'task_id', 'Idempotency']);
