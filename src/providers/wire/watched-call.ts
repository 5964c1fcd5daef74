import { type Client, request, type Dispatcher } from 'undici';
import { clientOnFreshConnection } from '../../platform/outbound/client.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { withTimeout } from '../../platform/outbound/with-timeout.ts';
import { measuredCall } from './call-metrics.ts';
import type { EmbeddedPictures } from './embedded-pictures.ts';
import type { InlineImage } from './inline-image.ts';
import { isPlainJson } from '../../platform/schema/plain-json.ts';
import { type StreamedBody, streamForm, streamText } from './stream-body.ts';

/** Statuses that must not have a body. */
const BODILESS = new Set([204, 205, 304]);

interface Limits {
  /**
   * Milliseconds from the call to the last byte of the answer. Node's own fetch times out after 300 s, but a large
   * image may take longer.
   */
  timeoutMs: number;
  maxAnswerBytes: number;
  /** Aborts the call early. Missing for a job's create call, which is never interrupted. */
  signal?: AbortSignal;
  /** Gets the chunks of an answer of server-sent events as they arrive. The SDK then gets an empty body. */
  onEventStream?: (chunk: Buffer) => void;
  /** Takes the pictures out of any other answer. The SDK gets a token in place of each. */
  pictures?: EmbeddedPictures;
  /** Images that replace their tokens in the body. */
  images?: readonly InlineImage[];
}

/**
 * The `fetch` of one SDK call. It records how far the call got, because the SDKs report little of that, and one of them
 * drops the headers of an error. It sends once, on a fresh connection, and follows no redirect. A redirect would send a
 * paid request to another host. The API key would be sent too, because it is in a header that fetch does not recognise
 * as a credential.
 */
export class WatchedCall {
  /** Whether a connection was opened. From then on, the upstream may have accepted the request. */
  sent = false;
  /** The status of the answer; null if there was none. */
  status: number | null = null;
  /** The headers of the answer, with names in lower case. */
  headers: Record<string, string> = {};
  /** Whether the answer was received completely. */
  whole = false;
  tooLarge = false;
  timedOut = false;
  /** Why the answer is not complete. */
  failure: unknown = null;

  constructor(private readonly limits: Limits) {}

  /** Whether the upstream reports success. */
  get succeeded(): boolean {
    return this.status !== null && this.status >= 200 && this.status < 300;
  }

  readonly fetch: typeof globalThis.fetch = async (url, init = {}) => {
    const { timeoutMs, signal } = this.limits;
    const client = clientOnFreshConnection(new URL(String(url)).origin, () => (this.sent = true));
    try {
      const call = { url: String(url), method: init.method ?? 'GET', signal };
      return await measuredCall(call, async (answered) => {
        const sent = withTimeout(timeoutMs, signal, (signal) => this.send(client, call.url, init, signal));
        return await sent.finally(() => this.status !== null && answered(this.status));
      });
    } catch (error) {
      this.failure = error;
      this.timedOut = error instanceof OutboundError && error.kind === 'timeout';
      throw error;
    } finally {
      void client.destroy();
    }
  };

  private async send(client: Client, url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const headers = new Headers(init.headers);
    const streamed = this.streamed(init.body);
    if (streamed) headers.set('content-length', String(streamed.length));
    if (streamed?.contentType) headers.set('content-type', streamed.contentType);
    const method = (init.method ?? 'GET') as Dispatcher.HttpMethod;
    const body = streamed?.stream;
    const answer = await request(url, { dispatcher: client, method, headers: [...headers].flat(), body, signal });
    this.status = answer.statusCode;
    for (const [name, value] of Object.entries(answer.headers)) this.headers[name] = String([value].flat()[0]);
    const bytes = await this.read(answer.body);
    this.whole = true;
    const { status } = this;
    return new Response(BODILESS.has(status) ? null : bytes, { status, headers: this.headers });
  }

  /** The body with its images. The SDKs send text or a form. */
  private streamed(body: unknown): (StreamedBody & { contentType?: string }) | null {
    if (typeof body === 'string') return streamText(body, this.limits.images ?? []);
    if (body instanceof FormData) return streamForm(body);
    if (body) throw new Error('The SDK sends a body of an unexpected kind.');
    return null;
  }

  private async read(body: AsyncIterable<Buffer>): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const isEventStream = this.headers['content-type']?.startsWith('text/event-stream');
    const onEventStream = isEventStream ? this.limits.onEventStream : undefined;
    const { pictures } = this.limits;
    const length = Number(this.headers['content-length']);
    if (length <= this.limits.maxAnswerBytes) pictures?.expect(length);
    const take = onEventStream ?? pictures?.read ?? ((chunk: Buffer) => void chunks.push(chunk));
    for await (const chunk of body) {
      bytes += chunk.length;
      this.tooLarge = bytes > this.limits.maxAnswerBytes;
      if (this.tooLarge) throw new Error(`the answer is larger than ${this.limits.maxAnswerBytes} bytes`);
      take(chunk);
    }
    const answer = Buffer.concat(pictures && !onEventStream ? pictures.end() : chunks);
    if (!isPlainJson(answer)) throw new Error('the answer is nested too deep, or has too many values or names');
    return answer;
  }
}
