import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.ts';
import type { Model } from '../../models/model.ts';
import { Config } from '../../platform/config.ts';
import { checkOutboundUrl } from '../../platform/outbound/url-rules.ts';
import type { ShownTask } from '../../tasks/task.entity.ts';
import { TaskViews } from '../../tasks/task-views.ts';
import { TasksService } from '../../tasks/tasks.service.ts';
import { readIdempotencyKey, requestHash } from './idempotency.ts';
import { parseGeneration } from './parse-generation.ts';

interface AcceptOptions {
  /** The header's value, bare or quoted. */
  idempotencyKey?: string | undefined;
  /** Seconds to wait for the end before answering. */
  waitS?: number;
  /** Aborts when the client has hung up. */
  gone?: AbortSignal | undefined;
}

export interface Acceptance {
  taskId: string;
  model: Model;
  /** The answer's body: for a repeated Idempotency-Key that of the first answer, byte for byte. */
  json: string;
  replayed: boolean;
  /** null when replayed. */
  task: ShownTask | null;
}

/** Turns a request into a task; from there on the workers have it. */
@Injectable()
export class GenerationsService {
  constructor(
    private readonly config: Config,
    private readonly tasks: TasksService,
    private readonly views: TaskViews,
  ) {}

  /**
   * @param body as the client sent it, in the names of REST
   * @throws ApiError with the first fault found; nothing is stored then
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
        : (made) => ({
            idempotency_key: key,
            request_hash: requestHash(body),
            response: (firstAnswer = this.views.json(made)),
          }),
    );
    if (replayed) return { taskId: replayed.task_id, model, json: replayed.response, replayed: true, task: null };
    if (waitS === 0)
      return { taskId: task.id, model, json: firstAnswer ?? this.views.json(task), replayed: false, task };

    const latest = await this.tasks.findWhenFinal(caller.apiKeyId, task.id, waitS, { gone });
    const json = this.views.json(latest);
    if (key !== null) await this.tasks.answeredWith(caller.apiKeyId, key, task.id, json);
    return { taskId: task.id, model, json, replayed: false, task: latest };
  }
}
