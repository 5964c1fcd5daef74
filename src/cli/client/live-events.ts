import { setTimeout as sleep } from 'node:timers/promises';

/** The service pings every 15 s: after twice that the connection is dead. */
const SILENCE_MS = 35_000;
const PAUSE_MS = { first: 500, longest: 15_000 };

/**
 * Reads `GET /v1/events` for as long as the signal lets it, over as many connections as that takes; each resumes where the
 * one before ended.
 * @param onOpen called at every connection
 * @throws Error when the service refuses the key
 */
export async function* liveEvents<Snapshot>(
  service: { url: string; key: string },
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<Snapshot> {
  let lastEventId: string | undefined;
  let pauseMs = PAUSE_MS.first;
  while (!signal.aborted) {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const response = await fetch(`${service.url.replace(/\/+$/, '')}/v1/events`, {
        headers: {
          accept: 'text/event-stream',
          authorization: `Bearer ${service.key}`,
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if ([400, 401, 403, 404].includes(response.status)) throw await refusal(response);
      if (!response.ok || !response.body) throw new Error(`The service answered ${response.status}.`);
      onOpen();
      pauseMs = PAUSE_MS.first;
      for await (const { id, data } of parse(response.body, () => timer.refresh())) {
        yield JSON.parse(data) as Snapshot;
        lastEventId = id ?? lastEventId; // after it was dealt with
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    } finally {
      clearTimeout(timer);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS.longest);
  }
}

class Refused extends Error {}

async function refusal(response: Response): Promise<Refused> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return new Refused(`${error.code}: ${error.message}`);
  } catch {
    return new Refused(`The service answered ${response.status}.`); // something else stands at this address
  }
}

/** The parts of server-sent events that the service uses: `id:`, `data:` and comments. */
async function* parse(
  bytes: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<{ id: string | undefined; data: string }> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    onBytes();
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split('\n')
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      const data = field('data').join('\n');
      if (data !== '') yield { id: field('id').at(-1), data };
    }
  }
}
