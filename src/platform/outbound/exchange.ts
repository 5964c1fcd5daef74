import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { OutboundError } from './outbound-error.ts';

export interface Exchange {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | Buffer;
  maxResponseBytes: number;
  /** What becomes of an answer past `maxResponseBytes`: cut there, or an error. Reading stops in both cases. */
  tooLarge: 'truncate' | 'fail';
  /** Told as soon as the head of the answer is there, for callers to whom the rest does not matter. */
  onHead?: (head: Omit<Answer, 'body'>) => void;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  /** As sent: no content coding is undone, so a small body cannot unfold into a large one. Empty for a redirect. */
  body: Buffer;
}

/**
 * One HTTP/1.1 request and its answer over a connection that the caller opened and checked. The connection is closed
 * afterwards, so no later request can ride on this one's check.
 * @throws OutboundError connect_failed, too_large; the reason of the signal
 */
export async function exchange(socket: Socket, url: URL, wanted: Exchange, signal: AbortSignal): Promise<Answer> {
  let unused: Socket | null = socket;
  const client = new Client(url.origin, {
    connect: (_options, done) => {
      const given = unused;
      unused = null;
      // Not at once: the client would miss an answer given while it is still asking.
      queueMicrotask(() => (given ? done(null, given) : done(new Error('the connection is used up'), null)));
    },
    headersTimeout: 0, // the signal is the only clock
    bodyTimeout: 0,
  });
  try {
    const { method, headers, body } = wanted;
    const path = url.pathname + url.search;
    const response = await client.request({ method, path, headers, body, signal, reset: true });
    wanted.onHead?.({ status: response.statusCode, headers: response.headers });
    return { status: response.statusCode, headers: response.headers, body: await read(response, wanted) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof OutboundError) throw error;
    throw new OutboundError('connect_failed', 'the connection broke before the answer was complete', error);
  } finally {
    void client.destroy();
    socket.destroy();
  }
}

async function read({ statusCode, headers, body }: Dispatcher.ResponseData, wanted: Exchange): Promise<Buffer> {
  body.on('error', () => {}); // left early, it reports that; whoever still reads gets the error from the iterator
  if (statusCode >= 300 && statusCode < 400) return Buffer.alloc(0);
  const { maxResponseBytes, tooLarge } = wanted;
  if (tooLarge === 'fail' && Number(headers['content-length']) > maxResponseBytes) throw tooMuch(maxResponseBytes);

  const chunks: Buffer[] = [];
  let room = maxResponseBytes;
  if (room === 0 && tooLarge === 'truncate') return Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, room));
    room -= chunk.length;
    if (room < 0 && tooLarge === 'fail') throw tooMuch(maxResponseBytes);
    if (room <= 0 && tooLarge === 'truncate') break;
  }
  return Buffer.concat(chunks);
}

function tooMuch(bytes: number): OutboundError {
  return new OutboundError('too_large', `the answer is larger than ${bytes} bytes`);
}
