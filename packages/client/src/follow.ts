import { ConnectionError, DarkroomError } from './errors.ts';
import { readEvents } from './http/events.ts';
import { backoffMs, sleep } from './http/retry.ts';
import type { Transport } from './http/transport.ts';

/** What changes until it is final: a task, or a batch. */
export interface Followed<State> {
  id: string;
  /** The path of its events. Null if there are only reads. */
  events: string | null;
  isFinal: (state: State) => boolean;
  /**
   * Reads the present state. Null if there is only the stream: `events` and `read` are never both null.
   * @param waits whether it may wait for a change, because no stream will show that
   */
  read: ((signal: AbortSignal | undefined, waits: boolean) => Promise<State>) | null;
  /** How long the service may be away. */
  patienceMs?: number;
}

/** How long the service may be away before it is given up. Each answer restarts this time. */
const PATIENCE_MS = 300_000;
/** The first state of one thing comes at once, unless a proxy keeps streams back. */
const FIRST_EVENT_MS = 10_000;

/** Streams in a row that delivered nothing while reads were answered. Then only reads are left. */
const MAX_FAILED_STREAMS = 2;

/**
 * Yields every state of something until its final one: from a stream of events, which is resumed where it broke, or by
 * reads where streams do not work. Each second try of a broken stream is a read, because a proxy may cut or refuse
 * streams alone. Survives a service that restarts.
 * @throws DarkroomError when the service refuses, or has been away for `patienceMs`
 */
export async function* follow<State>(
  transport: Transport,
  followed: Followed<State>,
  signal?: AbortSignal,
): AsyncGenerator<State> {
  const { events, read, isFinal, patienceMs = PATIENCE_MS } = followed;
  let resume: string | null = null;
  let failedStreams = 0;
  /** The last try was a stream that broke or delivered nothing. */
  let isBroken = false;
  let failures = 0;
  let awaySince: number | null = null;
  for (;;) {
    const tryStreams = events !== null && (read === null || failedStreams < MAX_FAILED_STREAMS);
    const streams: boolean = tryStreams && !(read && isBroken);
    let delivered = false;
    try {
      const states: AsyncIterable<{ id: string | null; state: State }> = streams
        ? stream<State>(transport, { events: events!, firstMs: read ? FIRST_EVENT_MS : undefined }, resume, signal)
        : once(read!(signal, !tryStreams));
      for await (const { id, state } of states) {
        [delivered, failures, awaySince, resume] = [true, 0, null, id ?? resume];
        yield state;
        if (isFinal(state)) return;
      }
      // A stream that is resumed after its final event is empty: only a read shows that state.
      isBroken = streams && !delivered;
      if (streams) failedStreams = delivered ? 0 : failedStreams + 1;
      if (streams && (delivered || read === null)) await sleep(backoffMs(0), signal);
    } catch (error) {
      signal?.throwIfAborted();
      const isRefused = error instanceof DarkroomError && !error.retryable;
      if (isRefused && !(streams && read)) throw error; // a refused stream may be the doing of a proxy: the read tells
      awaySince ??= Date.now();
      if (Date.now() - awaySince > patienceMs) throw error;
      // Without a read in between, a service that is away looks like a stream that is.
      if (streams)
        failedStreams = delivered ? 0 : failedStreams + (error instanceof ConnectionError ? 1 : MAX_FAILED_STREAMS);
      else failedStreams = 0;
      isBroken = streams;
      if (!isRefused) await sleep(backoffMs(failures++), signal);
    }
  }
}

async function* once<State>(state: Promise<State>): AsyncGenerator<{ id: null; state: State }> {
  yield { id: null, state: await state };
}

/** One connection. */
async function* stream<State>(
  transport: Transport,
  { events, firstMs }: { events: string; firstMs: number | undefined },
  resume: string | null,
  signal?: AbortSignal,
): AsyncGenerator<{ id: string | null; state: State }> {
  const headers = { accept: 'text/event-stream', ...(resume !== null && { 'last-event-id': resume }) };
  const response = await transport.open('GET', events, { headers, signal });
  if (response.status === 204 || !response.body) return;
  for await (const { id, data } of readEvents(response.body, firstMs)) yield { id, state: JSON.parse(data) as State };
}
