import type { FastifyReply } from 'fastify';

/** A signal that aborts when the client disconnects before its response is complete, so that the server stops waiting. */
export function hungUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
