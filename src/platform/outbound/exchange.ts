import type { Dispatcher } from 'undici';
import type { Connection } from './connection.ts';
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
 * One request and its answer. The connection is closed unless it is to be kept and can be: an answer read to its end, by a
 * server that keeps it too.
 * @throws OutboundError connect_failed, too_large; the reason of the signal
 */
export async function exchange(
  connection: Connection,
  url: URL,
  { keepsConnection, ...wanted }: Exchange & { keepsConnection: boolean },
  signal: AbortSignal,
): Promise<Answer> {
  let isReusable = false;
  try {
    const { method, headers, body } = wanted;
    const path = url.pathname + url.search;
    const request = { method, path, headers, body, signal, reset: !keepsConnection };
    const response = await connection.client.request(request);
    wanted.onHead?.({ status: response.statusCode, headers: response.headers });
    const read = await readBody(response, wanted);
    isReusable = keepsConnection && read.isWhole;
    return { status: response.statusCode, headers: response.headers, body: read.body };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof OutboundError) throw error;
    throw new OutboundError('connect_failed', 'the connection broke before the answer was complete', error);
  } finally {
    if (!isReusable) connection.close();
  }
}

async function readBody(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  wanted: Exchange,
): Promise<{ body: Buffer; isWhole: boolean }> {
  body.on('error', () => {}); // left early, it reports that; whoever still reads gets the error from the iterator
  const nothing = { body: Buffer.alloc(0), isWhole: false };
  if (statusCode >= 300 && statusCode < 400) return nothing;
  const { maxResponseBytes, tooLarge } = wanted;
  if (tooLarge === 'fail' && Number(headers['content-length']) > maxResponseBytes) throw tooMuch(maxResponseBytes);

  const chunks: Buffer[] = [];
  let room = maxResponseBytes;
  if (room === 0 && tooLarge === 'truncate') return nothing;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, room));
    room -= chunk.length;
    if (room < 0 && tooLarge === 'fail') throw tooMuch(maxResponseBytes);
    if (room <= 0 && tooLarge === 'truncate') return { body: Buffer.concat(chunks), isWhole: false };
  }
  return { body: Buffer.concat(chunks), isWhole: true };
}

function tooMuch(bytes: number): OutboundError {
  return new OutboundError('too_large', `the answer is larger than ${bytes} bytes`);
}
