import type { FastifyReply, FastifyRequest } from 'fastify';
import { becomesStream } from '../../platform/http/http-metrics.ts';
import { eventStream, type StateQueue, type StreamEvent } from './event-stream.ts';
import { hangUpWhenUnread } from './unread.ts';

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // otherwise nginx buffers the events
};

/** Answers with the states of a queue as server-sent events. */
export function sendStream<State>(
  reply: FastifyReply,
  queue: StateQueue<State>,
  toEvent: (state: State) => StreamEvent,
): FastifyReply {
  reply.raw.once('close', () => queue.close()); // also when the client disconnects before the first byte
  if (reply.raw.destroyed) queue.close();
  hangUpWhenUnread(reply.raw);
  becomesStream(reply.request);
  return reply.headers(STREAM_HEADERS).send(eventStream(queue, toEvent));
}

export function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  return headers['last-event-id'] as string | undefined; // Fastify joins repeated headers
}
