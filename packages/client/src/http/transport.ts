import { ConnectionError, DarkroomError } from '../errors.ts';
import { errorOf } from './answer-error.ts';
import { timeLimit, type TimeLimit } from './time-limit.ts';
import { backoffMs, MAX_RETRY_AFTER_MS, sleep } from './retry.ts';

export interface DarkroomOptions {
  /**
   * The URL of the service, such as `https://darkroom.example`. Default: the environment variable DARKROOM_URL, or
   * http://127.0.0.1:3000.
   */
  baseUrl?: string;
  /** Default: the environment variable DARKROOM_API_KEY. */
  apiKey?: string;
  /** Retries after the first attempt. Default 2. */
  maxRetries?: number;
  /** The limit for one attempt: to the end of a JSON answer, or to the headers of a stream. Default 60,000. */
  timeoutMs?: number;
  fetch?: typeof fetch;
  /** Called before each attempt of an API call, but not before a download. */
  onRequest?: (request: { method: string; url: string; attempt: number }) => void;
}

/** Options of every call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export interface Call extends CallOptions {
  query?: object | undefined;
  /** Sent as JSON, unless it is a form. */
  body?: object | undefined;
  headers?: Record<string, string>;
  /**
   * Whether it does no harm to send the request twice. Default: true for GET and DELETE, otherwise false. If false, the
   * request is sent again only after a 429.
   */
  isRepeatable?: boolean;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Sends requests with the API key. Sends a failed request again if a retry may succeed and does no harm. */
export class Transport {
  readonly base: string;
  private readonly apiKey: string | undefined;
  private readonly maxRetries: number;
  private readonly timeoutMs: number;
  private readonly fetch: typeof fetch;
  private readonly onRequest: DarkroomOptions['onRequest'];

  constructor(options: DarkroomOptions) {
    this.base = (options.baseUrl ?? variable('DARKROOM_URL') ?? 'http://127.0.0.1:3000').replace(/\/+$/, '');
    this.apiKey = options.apiKey ?? variable('DARKROOM_API_KEY');
    this.maxRetries = options.maxRetries ?? 2;
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    // `fetch` is called without `this`: browsers refuse a `fetch` that is called as a method of another object.
    const { fetch: given } = options;
    this.fetch = (input, init) => (given ?? globalThis.fetch)(input, init);
    this.onRequest = options.onRequest;
  }

  /** The JSON of an answer; undefined if the answer is empty. */
  json<Answer>(method: string, path: string, call: Call = {}): Promise<Answer> {
    return this.attempts(method, path, call, async (response) => {
      const text = await response.text();
      return (text === '' ? undefined : JSON.parse(text)) as Answer;
    });
  }

  /** An answer whose body the caller reads. The time limit applies only until the headers arrive. */
  open(method: string, path: string, call: Call = {}): Promise<Response> {
    return this.attempts(method, path, call, async (response) => response);
  }

  /** Sends one GET to a signed link, without the API key. */
  link(url: string, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
    return this.once(url, { headers }, timeLimit(this.timeoutMs, signal), async (response) => response);
  }

  private async attempts<Answer>(
    method: string,
    path: string,
    call: Call,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const url = this.base + path + queryText(call.query);
    const isRepeatable = call.isRepeatable ?? (method === 'GET' || method === 'DELETE');
    for (let attempt = 0; ; attempt++) {
      this.onRequest?.({ method, url, attempt });
      try {
        const limit = timeLimit(call.timeoutMs ?? this.timeoutMs, call.signal);
        return await this.once(url, this.requestOf(method, call), limit, read);
      } catch (error) {
        const waitMs = attempt < this.maxRetries ? pauseAfter(error, attempt, isRepeatable) : null;
        if (waitMs === null) throw error;
        await sleep(waitMs, call.signal);
      }
    }
  }

  /**
   * @throws DarkroomError if the answer is no success, or if no complete answer comes
   * @throws the reason of the caller's signal if that signal aborts
   */
  private async once<Answer>(
    url: string,
    request: RequestInit,
    limit: TimeLimit,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      const response = await this.fetch(url, { ...request, signal: limit.signal });
      if (!response.ok) throw await errorOf(response);
      return await read(response);
    } catch (error) {
      if (error instanceof DarkroomError) throw error;
      if (limit.isCallers()) throw limit.signal.reason;
      const why = limit.signal.aborted ? 'did not answer in time' : 'cannot be reached';
      throw new ConnectionError(`${new URL(url).origin} ${why}.`, error);
    } finally {
      limit.stop();
    }
  }

  private requestOf(method: string, { body, headers }: Call): RequestInit {
    const isForm = body instanceof FormData;
    return {
      method,
      headers: {
        ...(this.apiKey !== undefined && { authorization: `Bearer ${this.apiKey}` }),
        ...(body && !isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    };
  }
}

/** @returns milliseconds until the next attempt; null: no retry, also when the service asks for too long a wait */
function pauseAfter(error: unknown, attempt: number, isRepeatable: boolean): number | null {
  if (!(error instanceof DarkroomError) || !error.retryable) return null;
  if (!isRepeatable && error.status !== 429) return null;
  const askedMs = (error.retryAfterS ?? 0) * 1000;
  return askedMs > MAX_RETRY_AFTER_MS ? null : Math.max(askedMs, backoffMs(attempt));
}

/** Writes a query. The object `metadata: { team: 'design' }` becomes `metadata[team]=design`. */
function queryText(query: object = {}): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) for (const each of value) text.append(name, String(each));
    else if (typeof value === 'object')
      for (const [key, one] of Object.entries(value)) text.append(`${name}[${key}]`, String(one));
    else text.append(name, String(value));
  }
  return text.size > 0 ? `?${text}` : '';
}

/** An environment variable. Browsers and Workers have none. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
