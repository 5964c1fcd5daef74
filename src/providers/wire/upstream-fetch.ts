import { Agent, buildConnector, Client, request, type FormData } from 'undici';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';

/** DNS, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 10_000;

/** A job API answers at once; a body of reference images may take its time on the way there. */
const TIMEOUT_MS = 60_000;

/** What these interfaces answer is some kilobytes of JSON; pictures are downloaded apart. */
const MAX_BYTES = 8 * 1024 * 1024;

export interface UpstreamCall {
  /** GET when absent. Anything else travels on a connection of its own, see `UpstreamFailure.sent`. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is, when there is no `json`. */
  body?: Buffer | FormData;
  /** From here to the last byte of the answer; 60,000 when absent. */
  timeoutMs?: number;
  /** Absent for a paid call, which is never interrupted. */
  signal?: AbortSignal;
}

export interface UpstreamReply {
  status: number;
  /** Names in lower case; of repeated ones the first. */
  headers: Record<string, string>;
  /** undefined when the body is not JSON. */
  json: unknown;
  /** The body as text, cut at 500 characters; for the operator's log where the body is not JSON. */
  text: string;
}

/** No complete answer came. */
export class UpstreamFailure extends Error {
  constructor(
    /** False when the connection did not even come about, so the upstream surely knows nothing of the request. */
    readonly sent: boolean,
    readonly timedOut: boolean,
    cause: unknown,
  ) {
    super(timedOut ? 'the upstream did not answer in time' : 'the upstream could not be reached', { cause });
    this.name = 'UpstreamFailure';
  }
}

const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });

// Our own timer is the only clock. Reading keeps its connections: a poll that breaks is just repeated.
const limits = { headersTimeout: 0, bodyTimeout: 0 };
const reading = new Agent({ ...limits, connect: connector });

/**
 * One HTTP request to the operator's upstream, sent exactly once and never redirected. Any status is an answer.
 * @throws UpstreamFailure; the reason of the signal
 */
export async function upstreamFetch(url: string, call: UpstreamCall): Promise<UpstreamReply> {
  const { method = 'GET', json, body, timeoutMs = TIMEOUT_MS, signal } = call;
  let sent = method === 'GET';
  const own = method === 'GET' ? null : oneConnection(new URL(url).origin, () => (sent = true));
  const headers = { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...call.headers };
  try {
    return await withTimeout(timeoutMs, signal, async (signal) => {
      const response = await request(url, {
        dispatcher: own ?? reading,
        method,
        headers: { accept: 'application/json', ...headers },
        body: json === undefined ? body : JSON.stringify(json),
        signal,
      });
      return await toReply(response);
    });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const timedOut = error instanceof OutboundError && error.kind === 'timeout';
    throw new UpstreamFailure(sent, timedOut, error);
  } finally {
    void own?.destroy();
  }
}

/**
 * A fresh connection for one request: on a kept one that the upstream has just closed, nobody could say whether the request
 * arrived. Costs a handshake, beside minutes of generation.
 */
function oneConnection(origin: string, onOpen: () => void): Client {
  return new Client(origin, {
    ...limits,
    pipelining: 0,
    connect: (options, done) => {
      connector(options, (...[error, socket]) => {
        if (error) return done(error, null);
        onOpen();
        done(null, socket);
      });
    },
  });
}

async function toReply(response: Awaited<ReturnType<typeof request>>): Promise<UpstreamReply> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) headers[name] = first;
  }
  const text = await read(response.body);
  return { status: response.statusCode, headers, json: parse(text), text: text.slice(0, 500) };
}

async function read(body: Awaited<ReturnType<typeof request>>['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the upstream's answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
