import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { PATIENCE_MS } from '../wait.ts';

export interface Attack {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Outcome {
  attack: Attack;
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  ms: number;
  /** Whether the response took longer than the client allows. */
  late: boolean;
}

/** How many requests are in flight. */
const CONCURRENCY = 8;

/** Sends requests that an ordinary client library refuses to send, over keep-alive connections. */
export class HostileClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });

  constructor(
    private readonly port: number,
    private readonly key: string | null,
    private readonly hangMs = Infinity,
  ) {}

  async send(attack: Attack): Promise<Outcome> {
    const first = await this.once(attack);
    // A late response is tried again: on a busy machine one slow response does not prove that the service is slow.
    return first.late ? this.once(attack) : first;
  }

  /** Sends all attacks concurrently. `judge` throws for a forbidden response. */
  async sendAll(attacks: readonly Attack[], judge: (outcome: Outcome) => void): Promise<void> {
    const queue = attacks[Symbol.iterator]();
    const worker = async (): Promise<void> => {
      for (const attack of queue) judge(await this.send(attack));
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  }

  close(): void {
    this.agent.destroy();
  }

  private once(attack: Attack): Promise<Outcome> {
    const { method, path, body } = attack;
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(new Error(`${describe(attack)}: ${error.message}`));
      const request = httpRequest(
        {
          agent: this.agent,
          host: '127.0.0.1',
          port: this.port,
          method,
          path,
          timeout: PATIENCE_MS,
          headers: {
            ...(this.key !== null && { authorization: `Bearer ${this.key}` }),
            ...(body !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
            }),
            ...attack.headers,
          },
        },
        (response) => {
          const { statusCode: status = 0, headers } = response;
          const done = (text: string): void => {
            const ms = performance.now() - startedAt;
            resolve({ attack, status, headers, text, ms, late: ms > this.hangMs });
          };
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => done(text)).on('error', fail);
          if (status < 300 && headers['content-type']?.startsWith('text/event-stream')) {
            done(''); // the stream was opened, which is a good response; it would never end
            response.removeAllListeners('error').on('error', () => undefined);
            request.destroy();
          }
        },
      );
      request.on('error', fail).on('timeout', () => request.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)));
      request.end(body);
    });
  }
}

/** Texts that reveal the implementation. */
const INTERNALS =
  /\n\s+at |node_modules|\/(src|dist)\/[\w/.-]+\.[jt]s|\b(?:Type|Range|Reference|Syntax|Aggregate)Error\b|QueryFailed|postgres/;

/**
 * Throws unless the response keeps the contract: in time, no 5xx, no stack trace, no HTML, and the documented envelope.
 */
export function assertOrderly(outcome: Outcome): void {
  const { attack, status, headers, text, ms, late } = outcome;
  const faults = [
    (status >= 500 || /"code":"internal_error"/.test(text)) && 'a server error',
    late && `took ${Math.round(ms)} ms`,
    headers['x-request-id'] === undefined && 'no x-request-id',
    headers['x-content-type-options'] !== 'nosniff' && 'no nosniff',
    (headers.server ?? headers['x-powered-by']) !== undefined && 'a banner',
    headers['content-type']?.startsWith('text/html') && 'an HTML page',
    Object.keys(headers).some((name) => name.startsWith('access-control-')) && 'open to other origins',
    status >= 400 && attack.method !== 'HEAD' && faultOfBody(outcome),
    status >= 400 && !echoes(attack, text) && INTERNALS.test(text) && 'shows internals',
  ].filter(Boolean);
  if (faults.length > 0)
    throw new Error(`${describe(attack)}\n-> ${status} ${text.slice(0, 500)}\n${faults.join(', ')}`);
}

/**
 * Whether a text that looks like a trace of the implementation is only the client's own value, which a message may
 * repeat.
 */
function echoes({ path, body = '' }: Attack, text: string): boolean {
  const found = INTERNALS.exec(text)?.[0];
  return found !== undefined && (path.includes(found) || body.includes(found));
}

function faultOfBody({ headers, text }: Outcome): string | false {
  if (headers['content-type'] !== 'application/json; charset=utf-8') return `of type ${headers['content-type']}`;
  const body = JSON.parse(text) as { error?: { code?: string }; errors?: { extensions?: { code?: unknown } }[] };
  if (body.errors)
    return body.errors.every(({ extensions }) => typeof extensions?.code === 'string') ? false : 'no code';
  const names = Object.keys(body.error ?? {}).filter(
    (name) => name !== 'errors' || body.error?.code !== 'batch_invalid',
  );
  return names.toSorted().join() === 'code,message,param,request_id,type' ? false : 'not the documented envelope';
}

export function codeOf({ text }: Outcome): string | undefined {
  const body = JSON.parse(text || '{}') as {
    error?: { code: string };
    errors?: { extensions: { code: string } }[];
  };
  return body.error?.code ?? body.errors?.[0]?.extensions.code;
}

export function describe({ method, path, headers, body }: Attack): string {
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers ?? {}).slice(0, 300)} ${String(body ?? '').slice(0, 300)}`;
}
