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
   * Reads the present state, and may wait for a change. Null if there is nothing but the stream; one of the two is
   * there.
   */
  read: ((signal?: AbortSignal) => Promise<State>) | null;
  /** How long the service may be away. */
  patienceMs?: number;
}

/** How long the service may be away before it is given up. Each answer restarts this time. */
const PATIENCE_MS = 300_000;
/** The first state of one thing comes at once, unless a proxy keeps streams back. */
const FIRST_EVENT_MS = 10_000;

/**
 * Every state of something until its final one, over a stream of events that is resumed where it broke, or by reads
 * where streams do not work. Survives a service that restarts.
 * @throws DarkroomError when the service refuses, or has been away for five minutes
 */
export async function* follow<State>(
  transport: Transport,
  followed: Followed<State>,
  signal?: AbortSignal,
): AsyncGenerator<State> {
  const { events, read, isFinal, patienceMs = PATIENCE_MS } = followed;
  let resume: string | null = null;
  /** Until a stream delivers nothing; then reads take its place. */
  let streamsWork = events !== null;
  let failures = 0;
  let awaySince: number | null = null;
  for (;;) {
    const streams = events !== null && (read === null || streamsWork);
    let delivered = false;
    try {
      const states: AsyncIterable<{ id: string | null; state: State }> = streams
        ? stream<State>(transport, { events, firstMs: read ? FIRST_EVENT_MS : undefined }, resume, signal)
        : once(read!(signal));
      for await (const { id, state } of states) {
        [delivered, failures, awaySince, resume] = [true, 0, null, id ?? resume];
        yield state;
        if (isFinal(state)) return;
      }
      if (streams && !delivered) {
        streamsWork = false;
        // A stream that is resumed after its final event is empty: only a read shows that state.
        const state = await read?.(signal);
        if (state !== undefined) yield state;
        if (state !== undefined && isFinal(state)) return;
      }
      if (streams) await sleep(backoffMs(0), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof DarkroomError && !error.retryable) throw error;
      awaySince ??= Date.now();
      if (Date.now() - awaySince > patienceMs) throw error;
      if (!delivered && !(error instanceof ConnectionError)) streamsWork = false; // silent, or one stream too many
      await sleep(backoffMs(failures++), signal);
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
