import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.ts';
import type { Model } from '../../models/model.ts';
import { Config } from '../../platform/config.ts';
import { checkOutboundUrl } from '../../platform/outbound/url-rules.ts';
import type { ShownTask } from '../../tasks/task.entity.ts';
import { TaskViews } from '../../tasks/task-views.ts';
import type { TaskView } from '../../tasks/task.view.ts';
import { TasksService } from '../../tasks/tasks.service.ts';
import { readIdempotencyKey, requestHash } from './idempotency.ts';
import { parseGeneration } from './parse-generation.ts';

interface AcceptOptions {
  /** The header's value, bare or quoted. */
  idempotencyKey?: string | undefined;
  /** Seconds to wait for the final state before answering. */
  waitS?: number;
  /** Aborts when the client has closed the connection. */
  gone?: AbortSignal | undefined;
}

export interface Acceptance {
  taskId: string;
  model: Model;
  /** The task for REST. A repeated Idempotency-Key returns the first answer byte for byte. */
  json(): string;
  /** The same task for GraphQL. */
  view(): TaskView;
  replayed: boolean;
  /** null when replayed. */
  task: ShownTask | null;
}

/** Validates a request and stores it as a task; workers do the rest. */
@Injectable()
export class GenerationsService {
  constructor(
    private readonly config: Config,
    private readonly tasks: TasksService,
    private readonly views: TaskViews,
  ) {}

  /**
   * @param body as the client sent it, in the field names of REST
   * @throws ApiError for the first fault found; then nothing is stored
   */
  async accept(caller: Caller, body: unknown, { idempotencyKey, waitS = 0, gone }: AcceptOptions): Promise<Acceptance> {
    const key = readIdempotencyKey(idempotencyKey);
    const { model, input, metadata } = parseGeneration(body, (url) =>
      checkOutboundUrl(url, this.config, { https: false }),
    );
    const request = { kind: model.kind, model: model.id, input, metadata };
    let firstAnswer: string | undefined;
    const { task, replayed } = await this.tasks.create(
      caller,
      request,
      key === null
        ? null
        : (created) => ({
            idempotency_key: key,
            request_hash: requestHash(body),
            response: (firstAnswer = this.views.json(created)),
          }),
    );
    if (replayed) return replay(replayed, model);
    if (waitS === 0) return this.acceptance(task, model, firstAnswer);

    const latest = await this.tasks.findWhenFinal(caller.apiKeyId, task.id, waitS, { gone });
    const json = this.views.json(latest);
    if (key !== null) await this.tasks.answeredWith(caller.apiKeyId, key, task.id, json);
    return this.acceptance(latest, model, json);
  }

  private acceptance(task: ShownTask, model: Model, json?: string): Acceptance {
    return {
      taskId: task.id,
      model,
      json: () => json ?? this.views.json(task),
      view: () => this.views.of(task),
      replayed: false,
      task,
    };
  }
}

/** @param first the stored answer to the first request with the same Idempotency-Key */
function replay(first: { task_id: string; response: string }, model: Model): Acceptance {
  return {
    taskId: first.task_id,
    model,
    json: () => first.response,
    view: () => JSON.parse(first.response) as TaskView,
    replayed: true,
    task: null,
  };
}
