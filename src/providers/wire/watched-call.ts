import { buildConnector, Client, request, type Dispatcher } from 'undici';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';

/** DNS, TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Statuses that may carry no body. */
const BODILESS = new Set([204, 205, 304]);

const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });

interface Limits {
  /** From here to the last byte of the answer. Node's own fetch gives up after 300 s, which a large picture may need. */
  timeoutMs: number;
  maxAnswerBytes: number;
  /** Aborts early; absent for a job's create call, which is never interrupted. */
  signal?: AbortSignal;
}

/**
 * The `fetch` of one SDK call, which afterwards knows how far the call got: of that the SDKs tell little, and one of them drops
 * the headers of an error. Sends once, on a connection of its own, and follows no redirect: that would carry a paid
 * request, and a key in a header that no fetch knows for one, to another host.
 */
export class WatchedCall {
  /** A connection stood: from here on the upstream may have taken the request. */
  sent = false;
  /** Of the answer; null when none came. */
  status: number | null = null;
  /** Of the answer; names in lower case. */
  headers: Record<string, string> = {};
  /** The answer is complete. */
  whole = false;
  tooLarge = false;
  timedOut = false;
  /** Why there is no complete answer. */
  failure: unknown = null;

  constructor(private readonly limits: Limits) {}

  /** The upstream says that it did the work. */
  get succeeded(): boolean {
    return this.status !== null && this.status >= 200 && this.status < 300;
  }

  readonly fetch: typeof globalThis.fetch = async (url, init = {}) => {
    const { timeoutMs, signal } = this.limits;
    const client = this.connection(new URL(String(url)).origin);
    try {
      return await withTimeout(timeoutMs, signal, (signal) => this.send(client, String(url), init, signal));
    } catch (error) {
      this.failure = error;
      this.timedOut = error instanceof OutboundError && error.kind === 'timeout';
      throw error;
    } finally {
      void client.destroy();
    }
  };

  private async send(client: Client, url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    // A form made by Node's own FormData is foreign to undici, and as bytes it declares its length.
    const encoded = new Response(init.body);
    const headers = new Headers(init.headers);
    const type = encoded.headers.get('content-type');
    if (type && !headers.has('content-type')) headers.set('content-type', type);
    const body = init.body ? Buffer.from(await encoded.arrayBuffer()) : undefined;
    const method = (init.method ?? 'GET') as Dispatcher.HttpMethod;
    const answer = await request(url, { dispatcher: client, method, headers: [...headers].flat(), body, signal });
    this.status = answer.statusCode;
    for (const [name, value] of Object.entries(answer.headers)) this.headers[name] = String([value].flat()[0]);
    const bytes = await this.read(answer.body);
    this.whole = true;
    const { status } = this;
    return new Response(BODILESS.has(status) ? null : bytes, { status, headers: this.headers });
  }

  private async read(body: AsyncIterable<Buffer>): Promise<Blob> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      this.tooLarge = bytes > this.limits.maxAnswerBytes;
      if (this.tooLarge) throw new Error(`the answer is larger than ${this.limits.maxAnswerBytes} bytes`);
      chunks.push(chunk as Uint8Array<ArrayBuffer>);
    }
    return new Blob(chunks);
  }

  /**
   * A kept connection may be closed by the other side at the very moment a paid request is written to it, and nobody could
   * tell whether it was read.
   */
  private connection(origin: string): Client {
    return new Client(origin, {
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, done) =>
        connector(options, (...[error, socket]) => {
          if (error) return done(error, null);
          this.sent = true;
          done(null, socket);
        }),
    });
  }
}
