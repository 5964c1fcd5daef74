import type { FastifyReply } from 'fastify';
import { lifecycleHeaders } from '../../models/lifecycle-headers.ts';
import type { Acceptance } from './acceptance.ts';

/** Answers a creation over REST: 201 with the task and its address. */
export function sendAcceptance(reply: FastifyReply, accepted: Acceptance): void {
  reply
    .code(201)
    .header('location', `/v1/tasks/${accepted.taskId}`)
    .header('cache-control', 'no-store')
    .header('content-type', 'application/json; charset=utf-8');
  reply.headers(lifecycleHeaders(accepted.model));
  if (accepted.replayed) reply.header('idempotent-replayed', 'true');
  void reply.send(accepted.json());
}
