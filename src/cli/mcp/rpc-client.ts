import { Agent, fetch, type Response } from 'undici';
import { failureText } from '../terminal/failure-text.ts';
import { answerWhenAway, hasOldTools, TOOLS_CHANGED } from './answer-when-away.ts';
import { isRequest, rpcError, type RpcMessage } from './rpc.ts';

const META = 'io.modelcontextprotocol/protocolVersion';
/** Values that a header may contain as they are. Any other value is sent as base64. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/**
 * The first revision whose results have links, which saved outputs need. For a client of an earlier revision, the
 * bridge uses this revision and turns the links into texts.
 */
const WITH_LINKS = '2025-06-18';
/**
 * A connection that receives nothing for this many milliseconds is cut. The time is longer than the 300 s for which a
 * tool may wait.
 */
const SILENCE_MS = 330_000;

/** Sends messages to the MCP server of a service over HTTP. */
export class RpcClient {
  private readonly url: string;
  private readonly dispatcher = new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  /** The revision that the handshake agreed on. undefined: there was no handshake, as in newer revisions. */
  private negotiated: string | undefined;
  private hasOldTools = false;

  constructor(
    base: string,
    private readonly key: string,
  ) {
    this.url = `${base.replace(/\/+$/, '')}/mcp`;
  }

  /** Whether the client of the bridge knows blocks that are links. */
  get knowsLinks(): boolean {
    return this.negotiated === undefined || this.negotiated >= WITH_LINKS;
  }

  /**
   * Yields the answers of the server; a failure of a request becomes an answer too. When the signal aborts, yields
   * nothing more. When the service cannot be reached, yields `answerWhenAway` for a request and nothing for a
   * notification; the next message tries again.
   */
  async *send(message: RpcMessage, signal: AbortSignal): AsyncGenerator<RpcMessage> {
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: this.headersOf(message),
        body: JSON.stringify(message),
        dispatcher: this.dispatcher,
        signal,
      });
      // A proxy in front of the service sends such a status, and so does a service that cannot answer now.
      if (response.status >= 502) throw new Error(`it answers ${response.status}`);
      if (this.hasOldTools) yield TOOLS_CHANGED;
      this.hasOldTools = false;
      for await (const answer of answersOf(response, message)) {
        this.noteHandshake(message, answer);
        yield answer;
      }
    } catch (error) {
      if (signal.aborted || !isRequest(message)) return;
      this.hasOldTools ||= hasOldTools(message);
      const answer = answerWhenAway(message, `${this.url} cannot be reached: ${failureText(error)}.`);
      this.noteHandshake(message, answer);
      yield answer;
    }
  }

  private headersOf({ method, params }: RpcMessage): Record<string, string> {
    const meta = params?._meta as Record<string, unknown> | undefined;
    const modern = meta?.[META] as string | undefined;
    const earlier = this.knowsLinks ? this.negotiated : WITH_LINKS;
    const version = modern ?? (method === 'initialize' ? undefined : earlier);
    const name = params?.name ?? params?.uri ?? params?.taskId;
    return {
      authorization: `Bearer ${this.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(version !== undefined && { 'mcp-protocol-version': version }),
      ...(modern !== undefined && method !== undefined && { 'mcp-method': method }),
      ...(modern !== undefined && typeof name === 'string' && { 'mcp-name': headerOf(name) }),
    };
  }

  private noteHandshake({ method }: RpcMessage, { result }: RpcMessage): void {
    const version = method === 'initialize' ? result?.protocolVersion : undefined;
    if (typeof version === 'string') this.negotiated = version;
  }
}

const headerOf = (text: string): string =>
  PLAIN.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

async function* answersOf(response: Response, request: RpcMessage): AsyncGenerator<RpcMessage> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) {
    for await (const data of eventsOf(response.body)) yield JSON.parse(data) as RpcMessage;
    return;
  }
  const text = await response.text();
  if (!isRequest(request)) return;
  const body = parsed(text);
  if (body?.jsonrpc === '2.0')
    yield { ...(body as unknown as RpcMessage), id: (body.id as RpcMessage['id']) ?? request.id };
  else yield refusal(request, response.status, body);
}

/** An error of the service outside of the protocol, such as a missing key or too many requests. */
function refusal({ id }: RpcMessage, status: number, body: Record<string, unknown> | null): RpcMessage {
  const error = body?.error as { code?: string; message?: string } | undefined;
  if (error?.message === undefined) return rpcError(id, `The service answered ${status}.`);
  return rpcError(id, `${error.code}: ${error.message}`, error);
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return null;
  }
}

/**
 * Yields the data of each event in a stream. The server writes the data of an event in one line. It also writes
 * comments, which keep the connection alive. They are skipped.
 */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length).trimEnd();
  }
}
