import type { FastifyReply } from 'fastify';

/** Aborts when the client closes its connection before it has its answer, so that nobody is kept waiting for. */
export function hungUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
