import { Agent, request } from 'undici';
import { clientOnFreshConnection, upstreamConnector } from '../../platform/outbound/client.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';
import { currentScope, errorTypeOf } from '../../platform/observe/traces/span.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import { Turns } from '../../platform/run/turns.ts';
import { measuredCall } from './call-metrics.ts';
import { isPlainJson } from '../../platform/schema/plain-json.ts';
import { type StreamedBody, streamForm, streamJson } from './stream-body.ts';

/** The usual time limit. Job APIs answer at once, but the upload of a request with reference images takes time. */
const TIMEOUT_MS = 60_000;

/** The usual limit of an answer. Upstreams answer with some kilobytes of JSON; results are downloaded separately. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * The most bytes of an answer that may contain pictures as data: URLs. A 4K PNG has up to 60 MB, and a third more in
 * base64.
 */
export const MAX_BYTES_WITH_RESULT = 96 * 1024 * 1024;

/**
 * The most bytes of a small answer. Only some larger answers are read at the same time, so that the polls of many jobs
 * cannot fill the memory at once.
 */
const SMALL_BYTES = 256 * 1024;
/**
 * How many large answers of one upstream are read at the same time. Each upstream has its own limit, so a slow one does
 * not keep others waiting.
 */
const LARGE_AT_ONCE = 4;
const largeOf = new Map<string, Turns>();

export interface UpstreamCall {
  /** Missing: GET. Any other method uses a fresh connection, see `UpstreamFailure.sent`. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers?: Record<string, string>;
  /** Sent as JSON; may contain `InlineImage`s. */
  json?: unknown;
  /** Sent if there is no `json`. */
  form?: FormData;
  /** Milliseconds from the call to the last byte of the answer. Missing: 60,000. */
  timeoutMs?: number;
  /** Missing for a paid call, which is never interrupted. */
  signal?: AbortSignal;
  /** The most bytes of the answer. Missing: 8 MiB. */
  maxBytes?: number;
  /** Reads no body: the reply has no JSON and no text. */
  headersOnly?: boolean;
}

export interface UpstreamReply {
  status: number;
  /** Names are in lower case. A repeated header has its first value. */
  headers: Record<string, string>;
  /** undefined when the body is no JSON, is nested too deep, or has too many values or names. */
  json: unknown;
  /** The first 500 characters of the body, for the operator's log. */
  text: string;
}

/** The call ended without a complete answer. */
export class UpstreamFailure extends Error {
  constructor(
    /** False if no connection was opened, so the upstream certainly has not received the request. */
    readonly sent: boolean,
    readonly timedOut: boolean,
    cause: unknown,
  ) {
    super(timedOut ? 'the upstream did not answer in time' : 'the upstream could not be reached', { cause });
    this.name = 'UpstreamFailure';
  }
}

// The agent has no time-outs, because the timer of `withTimeout` covers the call. Reads may reuse a connection, because
// a failed poll is simply repeated.
const readAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: upstreamConnector });

/**
 * Sends one HTTP request to the operator's upstream, exactly once, and follows no redirect. Any status is an answer.
 * @throws UpstreamFailure; the reason of the signal
 */
export async function upstreamFetch(url: string, call: UpstreamCall): Promise<UpstreamReply> {
  const reply = send(url, call);
  return traces.isOn && (call.method ?? 'GET') === 'GET' ? notePoll(reply) : reply;
}

/**
 * Notes a poll in the span of its stage. One span stands for all polls of a job, which may be hundreds. A failed poll
 * becomes an event of the span.
 */
async function notePoll(reply: Promise<UpstreamReply>): Promise<UpstreamReply> {
  const stage = currentScope.getStore()?.stage;
  if (stage) stage.polls += 1;
  try {
    const { status } = await reply;
    if (status >= 400) stage?.span.event('poll failed', { 'http.response.status_code': status });
  } catch (error) {
    stage?.span.event('poll failed', { 'error.type': errorTypeOf(error) });
  }
  return reply;
}

async function send(url: string, call: UpstreamCall): Promise<UpstreamReply> {
  const { method = 'GET', timeoutMs = TIMEOUT_MS, signal } = call;
  let sent = method === 'GET';
  const fresh = method === 'GET' ? null : clientOnFreshConnection(new URL(url).origin, () => (sent = true));
  const streamed = streamOf(call);
  const headers = {
    ...(streamed && { 'content-type': streamed.contentType, 'content-length': String(streamed.length) }),
    ...call.headers,
    ...traces.propagated,
  };
  try {
    return await measuredCall({ url, method, signal }, (answered) =>
      withTimeout(timeoutMs, signal, async (signal) => {
        const response = await request(url, {
          dispatcher: fresh ?? readAgent,
          method,
          headers: { accept: 'application/json', ...headers },
          body: streamed?.stream,
          signal,
        });
        answered(response.statusCode);
        return await toReply(response, call, () => largeAnswers(url).enter('answer', signal));
      }),
    );
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const timedOut = error instanceof OutboundError && error.kind === 'timeout';
    throw new UpstreamFailure(sent, timedOut, error);
  } finally {
    void fresh?.destroy();
  }
}

function streamOf({ json, form }: UpstreamCall): (StreamedBody & { contentType: string }) | null {
  if (json !== undefined) return { ...streamJson(json), contentType: 'application/json' };
  return form ? streamForm(form) : null;
}

function largeAnswers(url: string): Turns {
  const { origin } = new URL(url);
  const turns = largeOf.get(origin) ?? new Turns(LARGE_AT_ONCE);
  largeOf.set(origin, turns);
  return turns;
}

const NOTHING = Buffer.alloc(0);

type EnterTurn = () => Promise<() => void>;

async function toReply(
  response: Awaited<ReturnType<typeof request>>,
  call: UpstreamCall,
  enterTurn: EnterTurn,
): Promise<UpstreamReply> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) headers[name] = first;
  }
  if (call.headersOnly) await response.body.dump();
  const bytes = call.headersOnly ? NOTHING : await read(response.body, call.maxBytes ?? MAX_BYTES, enterTurn);
  const text = bytes.toString('utf8');
  return {
    status: response.statusCode,
    headers,
    json: isPlainJson(bytes) ? parse(text) : undefined,
    text: text.slice(0, 500),
  };
}

async function read(body: AsyncIterable<Buffer>, maxBytes: number, enterTurn: EnterTurn): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let leave: (() => void) | undefined;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`the upstream's answer is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
      if (bytes > SMALL_BYTES) leave ??= await enterTurn();
    }
    return Buffer.concat(chunks);
  } finally {
    leave?.();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
