import { open } from 'node:fs/promises';
import type { Client, Dispatcher } from 'undici';
import type { Socket } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { TinyChunks } from '../run/tiny-chunks.ts';
import { OutboundError } from './outbound-error.ts';
import { clientOnSocket } from './client.ts';

/** How long an idle connection is kept. Most servers keep it longer, so they do not close it first. */
export const IDLE_MS = 1000;

/**
 * The most bytes of an answer that wait for their reader. They are few, because each byte may be a chunk, and a chunk
 * takes hundreds of bytes.
 */
const WAITING_BYTES = 4096;

/** The most informational answers (1xx) to one request. A server may send them without end. */
const MAX_INFORMATIONAL = 100;

/** HTTP/1.1 over one open and checked socket. It serves one request at a time. */
export class Connection {
  /** Origin and checked address: requests with the same key may reuse the connection. */
  readonly key: string;
  /** Address of the peer; empty if the connection has closed already. */
  readonly address: string;
  readonly openedAt = performance.now();
  readonly client: Client;
  isOpen = true;
  /** Whether the connection has served an earlier request. */
  isReused = false;
  /** Called when the server or the idle timeout closes the connection. */
  onClose: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    { origin }: URL,
  ) {
    this.address = socket.remoteAddress ?? '';
    this.key = connectionKey(origin, this.address);
    this.client = clientOnSocket(origin, socket, { keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS });
    this.client.once('disconnect', () => {
      this.isOpen = false;
      this.onClose();
    });
  }

  close(): void {
    this.isOpen = false;
    void this.client.destroy();
    this.socket.destroy();
  }
}

export const connectionKey = (origin: string, address: string): string => `${origin} ${address}`;

export interface Exchange {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | Buffer;
  maxResponseBytes: number;
  /** What to do with an answer longer than `maxResponseBytes`. Reading stops in both cases. */
  tooLarge: 'truncate' | 'fail';
  /** Writes the body of a 2xx answer to this new file, not to memory; `body` is then empty. */
  saveTo?: string;
  /** Called once the head of the answer has arrived, for callers that do not need the body. */
  onHead?: (head: Omit<Answer, 'body'>) => void;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  /**
   * As sent. It is never decompressed, so a small body cannot expand into a large one. Empty for a 3xx, and if `saveTo`
   * has it.
   */
  body: Buffer;
}

/**
 * Sends one request and reads its answer. Closes the connection afterwards, unless `keepsConnection` is set and the
 * answer was read completely.
 * @throws OutboundError connect_failed, too_large; the reason of the signal
 */
export async function exchange(
  connection: Connection,
  url: URL,
  { keepsConnection, ...options }: Exchange & { keepsConnection: boolean },
  signal: AbortSignal,
): Promise<Answer> {
  let isReusable = false;
  try {
    const { method, headers, body } = options;
    const path = url.pathname + url.search;
    let informational = 0;
    const onInfo = () => {
      informational += 1;
      if (informational > MAX_INFORMATIONAL) connection.close();
    };
    const request = { method, path, headers, body, signal, reset: !keepsConnection, highWaterMark: WAITING_BYTES };
    const response = await connection.client.request({ ...request, onInfo });
    options.onHead?.({ status: response.statusCode, headers: response.headers });
    const read = await readBody(response, options);
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
  { maxResponseBytes, tooLarge, saveTo }: Exchange,
): Promise<{ body: Buffer; isWhole: boolean }> {
  body.on('error', () => {}); // a body that is not read to its end emits an error; a reader gets it from the iterator
  const nothing = { body: Buffer.alloc(0), isWhole: false };
  if (statusCode >= 300 && statusCode < 400) return nothing;
  if (maxResponseBytes === 0 && tooLarge === 'truncate') return nothing;
  if (tooLarge === 'fail' && Number(headers['content-length']) > maxResponseBytes) throw tooMuch(maxResponseBytes);

  const counted = pipeline(body, countedChunks(), () => undefined); // the iterator of `counted` throws every error
  if (saveTo !== undefined && statusCode < 300)
    return { ...nothing, isWhole: await save(counted, saveTo, maxResponseBytes) };
  const chunks: Buffer[] = [];
  let room = maxResponseBytes;
  for await (const chunk of counted as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, room));
    room -= chunk.length;
    if (room < 0 && tooLarge === 'fail') throw tooMuch(maxResponseBytes);
    if (room <= 0 && tooLarge === 'truncate') return { body: Buffer.concat(chunks), isWhole: false };
  }
  return { body: Buffer.concat(chunks), isWhole: true };
}

/** Fails for very many tiny chunks. Counts the chunks as they came, because an iterator joins the chunks that wait. */
function countedChunks(): Transform {
  const tiny = new TinyChunks();
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      tiny.add(chunk.length)
        ? done(new OutboundError('connect_failed', 'the answer comes in too many tiny chunks'))
        : done(null, chunk),
  });
}

/** @returns true: a body that is saved is always read to its end, or the exchange fails */
async function save(body: AsyncIterable<Buffer>, path: string, maxBytes: number): Promise<true> {
  const file = await open(path, 'wx', 0o600);
  try {
    let room = maxBytes;
    for await (const chunk of body) {
      room -= chunk.length;
      if (room < 0) throw tooMuch(maxBytes);
      await file.writeFile(chunk);
    }
    return true;
  } finally {
    await file.close();
  }
}

function tooMuch(bytes: number): OutboundError {
  return new OutboundError('too_large', `the answer is larger than ${bytes} bytes`);
}
