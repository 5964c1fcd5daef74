import type { FastifyReply } from 'fastify';
import { lifecycleHeaders } from '../../models/definition/model.ts';
import type { Acceptance } from './generations.service.ts';

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
