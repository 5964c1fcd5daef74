import type { FastifyReply } from 'fastify';
import { lifecycleHeaders, type Model } from '../../models/definition/model.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import type { TaskView } from '../../tasks/read/task.view.ts';

/** The answer to a creation. */
export interface Acceptance {
  taskId: string;
  /** As it is loaded now; null when it is gone. */
  model: Model | null;
  /** The task for REST. A repeated Idempotency-Key returns the first answer byte for byte. */
  json(): string;
  /** The same task for GraphQL. */
  view(): TaskView;
  replayed: boolean;
  /** null when replayed. */
  task: ShownTask | null;
}

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

/** Answers a creation over REST: 201 with the task and its address. */
export function sendAcceptance(reply: FastifyReply, accepted: Acceptance): void {
  reply
    .code(201)
    .header('location', `/v1/tasks/${accepted.taskId}`)
    .header('cache-control', 'no-store')
    .header('content-type', 'application/json; charset=utf-8');
  if (accepted.model) reply.headers(lifecycleHeaders(accepted.model)).header('model-version', accepted.model.version);
  if (accepted.replayed) reply.header('idempotent-replayed', 'true');
  void reply.send(accepted.json());
}
