import type { FastifyReply, FastifyRequest } from 'fastify';
import { becomesStream } from '../../platform/http/observe-requests.ts';
import { hangUpWhenUnread } from './unread.ts';
import { Readable } from 'node:stream';

/** The time without an event after which a ping is sent. Pings keep idle connections open through proxies. */
const PING_MS = 15_000;

/** One server-sent event: `id` is its `id:`, `name` its `event:`, `json` its data. */
export interface StreamEvent {
  id?: string;
  name?: string;
  json: string;
}

/** What is still to be sent to a subscriber. */
export interface StateQueue<State> {
  next(): Promise<IteratorResult<State, undefined>>;
  close(): void;
}

/**
 * Turns a queue into the bytes of a text/event-stream. The stream reads at most one event ahead of the client. So the
 * queue merges the changes that a slow client has not read.
 */
export function eventStream<State>(
  queue: StateQueue<State>,
  toEvent: (state: State) => StreamEvent,
  firstId?: string,
): Readable {
  const stream = Readable.from(events(queue, toEvent, firstId), { objectMode: false, highWaterMark: 1 });
  stream.once('close', () => queue.close());
  return stream;
}

async function* events<State>(
  queue: StateQueue<State>,
  toEvent: (state: State) => StreamEvent,
  firstId: string | undefined,
): AsyncGenerator<string> {
  yield `: open\n${idLine(firstId)}\n`; // sends the headers at once
  let next = queue.next();
  for (;;) {
    const result = await resultOrPing(next);
    if (result === 'ping') yield ': ping\n\n';
    else if (result.done) return;
    else {
      yield textOf(toEvent(result.value));
      next = queue.next();
    }
  }
}

const idLine = (id: string | undefined): string => (id === undefined ? '' : `id: ${id}\n`);

const textOf = ({ id, name, json }: StreamEvent): string =>
  `${idLine(id)}${name === undefined ? '' : `event: ${name}\n`}data: ${json}\n\n`;

/** The next result, or 'ping' when nothing has come for 15 s. */
export async function resultOrPing<T>(next: Promise<T>): Promise<T | 'ping'> {
  const ping = Promise.withResolvers<'ping'>();
  const timer = setTimeout(() => ping.resolve('ping'), PING_MS);
  try {
    return await Promise.race([next, ping.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // otherwise nginx buffers the events
};

/**
 * Answers with the states of a queue as server-sent events.
 * @param firstId sent before the first event, so that a client which is cut off before it can resume
 */
export function sendStream<State>(
  reply: FastifyReply,
  queue: StateQueue<State>,
  toEvent: (state: State) => StreamEvent,
  firstId?: string,
): FastifyReply {
  reply.raw.once('close', () => queue.close()); // also when the client disconnects before the first byte
  if (reply.raw.destroyed) queue.close();
  hangUpWhenUnread(reply.raw);
  becomesStream(reply.request);
  return reply.headers(STREAM_HEADERS).send(eventStream(queue, toEvent, firstId));
}

export function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  return headers['last-event-id'] as string | undefined; // Fastify joins repeated headers
}
