import { ConnectionError, DarkroomError } from './errors.ts';
import { readEvents } from './http/events.ts';
import { backoffMs, sleep } from './http/retry.ts';
import type { Transport } from './http/transport.ts';

/** What `follow` follows: one task, one batch, or all tasks of the key. */
export interface Followed<State> {
  id: string;
  /** The path of the stream of events; null: there is no stream, only reads. */
  events: string | null;
  isFinal: (state: State) => boolean;
  /**
   * Reads the present state; null: there is no read, only the stream. `events` and `read` are never both null.
   * @param waits true if `follow` only reads. `read` must then wait for a change, or pause before it reads, because
   *   `follow` makes no pause between reads
   */
  read: ((signal: AbortSignal | undefined, waits: boolean) => Promise<State>) | null;
  /** How long the service may be unreachable, by default `PATIENCE_MS`. */
  patienceMs?: number;
}

/**
 * How long the service may be unreachable before following ends with an error. Each state that arrives restarts this
 * time.
 */
const PATIENCE_MS = 300_000;
/**
 * How long the first event may take. A new stream of a task or batch begins with its state at once, unless a proxy
 * holds the stream back. The limit does not apply to a resumed stream, which may be silent until the next change.
 */
const FIRST_EVENT_MS = 10_000;

/**
 * After this many streams in a row without an event, `follow` only reads, unless `read` is null. A failed read sets the
 * count to zero.
 */
const MAX_FAILED_STREAMS = 2;

/**
 * Yields each state until the final one. `follow` reads a stream of events, and resumes the stream where it broke.
 * Where streams do not work, `follow` reads the state instead. After a broken stream the next attempt is a read,
 * because a proxy may cut or refuse streams but not reads. A restart of the service does not end the iteration.
 * @throws DarkroomError when the service refuses
 * @throws the last error when the service was unreachable for `patienceMs`
 * @throws the reason of `signal` when it aborts
 */
export async function* follow<State>(
  transport: Transport,
  followed: Followed<State>,
  signal?: AbortSignal,
): AsyncGenerator<State> {
  const { events, read, isFinal, patienceMs = PATIENCE_MS } = followed;
  let resume: string | null = null;
  let failedStreams = 0;
  /** True after a stream that broke or delivered nothing. */
  let isBroken = false;
  let failures = 0;
  let awaySince: number | null = null;
  for (;;) {
    const tryStreams = events !== null && (read === null || failedStreams < MAX_FAILED_STREAMS);
    const streams: boolean = tryStreams && !(read && isBroken);
    let delivered = false;
    try {
      const states: AsyncIterable<Received<State>> = streams
        ? stream<State>(
            transport,
            { events: events!, firstMs: read && !resume ? FIRST_EVENT_MS : undefined },
            resume,
            signal,
          )
        : once(read!(signal, !tryStreams));
      for await (const { id, state } of states) {
        [delivered, failures, awaySince, resume] = [true, 0, null, id ?? resume];
        if (state === null) continue;
        yield state;
        if (isFinal(state)) return;
      }
      // A stream that is resumed after its final event delivers nothing: only a read shows the final state.
      isBroken = streams && !delivered;
      if (streams) failedStreams = delivered ? 0 : failedStreams + 1;
      if (streams && (delivered || read === null)) await sleep(backoffMs(0), signal);
    } catch (error) {
      signal?.throwIfAborted();
      const isRefused = error instanceof DarkroomError && !error.retryable;
      if (isRefused && !(streams && read)) throw error; // a refused stream: perhaps a proxy refused it, so try a read
      awaySince ??= Date.now();
      if (Date.now() - awaySince > patienceMs) throw error;
      // A failed read sets the count to zero: the service is unreachable, so its streams failed for the same reason.
      if (streams)
        failedStreams = delivered ? 0 : failedStreams + (error instanceof ConnectionError ? 1 : MAX_FAILED_STREAMS);
      else failedStreams = 0;
      isBroken = streams;
      if (!isRefused) await sleep(backoffMs(failures++), signal);
    }
  }
}

interface Received<State> {
  /** Where a stream resumes; null: at the id before. */
  id: string | null;
  /** Null: there is no state yet. */
  state: State | null;
}

async function* once<State>(state: Promise<State>): AsyncGenerator<Received<State>> {
  yield { id: null, state: await state };
}

/** The events of one connection. */
async function* stream<State>(
  transport: Transport,
  { events, firstMs }: { events: string; firstMs: number | undefined },
  resume: string | null,
  signal?: AbortSignal,
): AsyncGenerator<Received<State>> {
  const headers = { accept: 'text/event-stream', ...(resume !== null && { 'last-event-id': resume }) };
  const response = await transport.open('GET', events, { headers, signal });
  if (response.status === 204 || !response.body) return;
  for await (const { id, data } of readEvents(response.body, firstMs)) {
    yield { id, state: data === null ? null : (JSON.parse(data) as State) };
  }
}
