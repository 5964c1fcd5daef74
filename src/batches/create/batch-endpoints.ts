import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { RequestedGeneration } from '../../generation/accept/prepare-generations.ts';
import { TaskViews } from '../../tasks/read/task-views.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';

/** An item whose body was translated into a body of `POST /v1/generations`. */
export interface TranslatedItem extends RequestedGeneration {
  body: Record<string, unknown>;
  /** Rewrites an error about the translated body, so that the error names parameters of the original body. */
  inClientWords?: (error: ApiError) => ApiError;
}

/** A route whose request bodies can be the items of a batch. */
export interface BatchEndpoint {
  path: string;
  /** @throws ApiError for a body that cannot be translated */
  translate(body: Record<string, unknown>, caller: Caller): TranslatedItem;
  /**
   * The body with which the route answers for a task that has succeeded.
   * @throws ApiError when files of the task are gone
   */
  answer(task: ShownTask): unknown;
}

export const NATIVE_PATH = '/v1/generations';

/** The routes that items of a batch may use. Other modules register their routes here. */
@Injectable()
export class BatchEndpoints {
  private readonly endpoints = new Map<string, BatchEndpoint>();

  constructor(views: TaskViews) {
    this.register({
      path: NATIVE_PATH,
      translate: (body) => ({ body }),
      answer: (task) => views.of(task),
    });
  }

  register(endpoint: BatchEndpoint): void {
    this.endpoints.set(endpoint.path, endpoint);
  }

  /** @throws ApiError invalid_value */
  find(path: string): BatchEndpoint {
    const endpoint = this.endpoints.get(path);
    if (endpoint) return endpoint;
    const message = `endpoint must be one of ${[...this.endpoints.keys()].join(', ')}.`;
    throw new ApiError('invalid_value', { param: 'endpoint', message });
  }
}
