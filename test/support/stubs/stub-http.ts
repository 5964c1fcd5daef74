import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';

/** One request as it arrived. */
export interface StubRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  /** The headers, without those that carry a key. */
  headers: Record<string, string>;
  /** Whether the request has a valid key, another key, or none. */
  key: 'right' | 'wrong' | 'none';
  /** The parsed JSON, or the text parts of a form. */
  fields: Record<string, unknown>;
  /** The file parts of a form, in order. */
  files: { field: string; name: string; type: string; bytes: Buffer }[];
  /** SHA-256 of the body in hex. */
  bodyHash: string;
  /** Milliseconds on the monotonic clock. */
  at: number;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body: object | string | Buffer;
}

/** The fault of one request. */
export type Fault =
  /** This reply is sent instead. */
  | { reply: Reply }
  /** The connection is cut: before the body is read, after the request took effect, or halfway through the reply. */
  | { cut: 'before' | 'after' | 'midway' }
  /** No reply is ever sent. */
  | 'hang'
  /** The normal reply is sent this much later. */
  | { delayMs: number }
  /** The normal reply is made after the promise resolves. */
  | { after: Promise<void> }
  /** Half of the normal reply is sent at once, the rest after the promise resolves. */
  | { restAfter: Promise<void> };

/**
 * An upstream on loopback. It records every request and applies the planned faults. A request without a fault gets the
 * reply of `answer`.
 */
export abstract class StubHttp {
  readonly requests: StubRequest[] = [];
  /** Every successful JSON reply with its request, so that tests can check them against the published schemas. */
  readonly answers: { request: StubRequest; body: object }[] = [];
  /** How many accepted requests cost money, whether or not the reply arrived. */
  submits = 0;
  /** How many replies were sent halfway under the fault `restAfter`. */
  halves = 0;
  key = 'stub-key-5f2c9e';
  /** A second valid key, as while a key is being replaced. */
  secondKey: string | null = null;

  private port = 0;
  private readonly faults: { pattern: RegExp; fault: Fault }[] = [];
  private readonly server: Server = createServer((incoming, outgoing) => {
    this.take(incoming, outgoing).catch(() => outgoing.destroy());
  });

  /** Makes the normal reply. */
  protected abstract answer(request: StubRequest): Promise<Reply> | Reply;

  /** The key of a request. Most servers take it as a bearer token. */
  protected keyOf({ authorization }: IncomingMessage['headers']): string | undefined {
    return authorization?.replace(/^Bearer /, '');
  }

  /** Whether a request costs money once it is accepted. */
  protected isSubmit({ method }: StubRequest): boolean {
    return method === 'POST';
  }

  /** Starts to listen; after a stop at the same address as before. */
  async start(): Promise<this> {
    this.port ||= await freePort(); // a port that nobody else takes while the server is stopped
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Plans faults for the next requests whose `METHOD /path` matches: one fault for each request, in order. */
  plan(pattern: RegExp, ...faults: Fault[]): void {
    for (const fault of faults) this.faults.push({ pattern, fault });
  }

  count(pattern: RegExp): number {
    return this.requests.filter(({ method, path }) => pattern.test(`${method} ${path}`)).length;
  }

  private async take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://stub');
    const fault = this.faultFor(`${incoming.method} ${pathname}`);
    const early = isCut(fault, 'before');
    const body = early ? Buffer.alloc(0) : await buffer(incoming);
    const request: StubRequest = {
      method: incoming.method ?? '',
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: withoutKeys(incoming.headers),
      key: this.judgeKey(incoming.headers),
      ...(await parse(body, incoming.headers['content-type'])),
      bodyHash: createHash('sha256').update(body).digest('hex'),
      at: performance.now(),
    };
    this.requests.push(request);
    if (early) return void incoming.socket.destroy();
    if (fault === 'hang') return;
    if (typeof fault === 'object' && 'delayMs' in fault) await sleep(fault.delayMs, undefined, { ref: false });
    if (typeof fault === 'object' && 'after' in fault) await fault.after;
    await this.reply(request, outgoing, fault);
  }

  private async reply(request: StubRequest, outgoing: ServerResponse, fault: Fault | undefined): Promise<void> {
    const planned = typeof fault === 'object' && 'reply' in fault ? fault.reply : null;
    const { status, headers = {}, body } = planned ?? (await this.answer(request));
    if (!planned && status < 300 && this.isSubmit(request)) this.submits += 1;
    if (isCut(fault, 'after')) return void outgoing.destroy();
    const json = typeof body === 'object' && !Buffer.isBuffer(body);
    if (json && status < 300 && !planned) this.answers.push({ request, body });
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(json ? JSON.stringify(body) : body);
    outgoing.writeHead(status, {
      ...(json ? { 'content-type': 'application/json' } : {}),
      'x-request-id': `req_${this.requests.length}`,
      'content-length': bytes.length,
      ...headers,
    });
    const half = bytes.length / 2;
    if (isCut(fault, 'midway')) return void outgoing.write(bytes.subarray(0, half), () => outgoing.destroy());
    if (typeof fault !== 'object' || !('restAfter' in fault)) return void outgoing.end(bytes);
    outgoing.write(bytes.subarray(0, half), () => (this.halves += 1));
    await fault.restAfter;
    outgoing.end(bytes.subarray(half));
  }

  private faultFor(line: string): Fault | undefined {
    const at = this.faults.findIndex(({ pattern }) => pattern.test(line));
    return at === -1 ? undefined : this.faults.splice(at, 1)[0]?.fault;
  }

  private judgeKey(headers: IncomingMessage['headers']): StubRequest['key'] {
    const key = this.keyOf(headers);
    return key === undefined ? 'none' : key === this.key || key === this.secondKey ? 'right' : 'wrong';
  }
}

const isCut = (fault: Fault | undefined, when: string): boolean =>
  typeof fault === 'object' && 'cut' in fault && fault.cut === when;

function withoutKeys(headers: IncomingMessage['headers']): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => name !== 'authorization' && name !== 'x-goog-api-key');
  return Object.fromEntries(shown.map(([name, value]) => [name, String(value)]));
}

async function parse(body: Buffer, type = ''): Promise<Pick<StubRequest, 'fields' | 'files'>> {
  if (body.length === 0) return { fields: {}, files: [] };
  if (type.startsWith('application/json')) return { fields: JSON.parse(body.toString()), files: [] };
  if (!type.startsWith('multipart/form-data')) return { fields: {}, files: [] };
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const fields: StubRequest['fields'] = {};
  const files: StubRequest['files'] = [];
  for (const [field, value] of form) {
    if (typeof value === 'string') fields[field] = value;
    else files.push({ field, name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  return { fields, files };
}
