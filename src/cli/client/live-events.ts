import { createEventSource } from 'eventsource-client';
import { errorText } from './error-text.ts';

/** The service sends a ping every 15 s. After two missing pings the connection is dead. */
const SILENCE_MS = 35_000;
/** Statuses that a retry cannot change. */
const FINAL_STATUSES = [400, 401, 403, 404];

/**
 * Reads `GET /v1/events` until `signal` aborts. Reconnects with `Last-Event-ID`, so no final state is missed.
 * @param onOpen called at every connection
 * @throws Error when the service refuses the key
 */
export async function* liveEvents<Snapshot>(
  service: { url: string; key: string },
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<Snapshot> {
  let refusal: Error | undefined;
  let connection = new AbortController();
  // The reason is not an AbortError, for which the client would not reconnect.
  const watchdog = setTimeout(() => connection.abort(new Error('The stream is silent.')), SILENCE_MS);

  const source = createEventSource({
    url: `${service.url.replace(/\/+$/, '')}/v1/events`,
    headers: { authorization: `Bearer ${service.key}` },
    // The client takes any status for a stream, and never gives up on one that is silent.
    fetch: async (url, init) => {
      connection = new AbortController();
      watchdog.refresh();
      const response = await fetch(url, { ...init, signal: AbortSignal.any([init?.signal, connection.signal]) });
      if (response.ok) return response;
      const error = new Error(await errorText(response));
      if (FINAL_STATUSES.includes(response.status)) {
        refusal = error;
        source.close();
      }
      throw error;
    },
    onConnect: onOpen,
    onMessage: () => watchdog.refresh(),
    onComment: () => watchdog.refresh(),
  });
  const close = () => source.close();
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  try {
    for await (const { data } of source) yield JSON.parse(data) as Snapshot;
    if (refusal) throw refusal;
  } finally {
    signal.removeEventListener('abort', close);
    close();
    clearTimeout(watchdog);
  }
}
