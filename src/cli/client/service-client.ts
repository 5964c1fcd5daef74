import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from './error-text.ts';
import { parseRetryAfter } from '../../platform/http/retry-after.ts';

const TIMEOUT_MS = 45_000; // longer than the 30 s of a long poll
const UPLOAD_TIMEOUT_MS = 300_000;
const MAX_ATTEMPTS = 5;
const MAX_BACKOFF_S = 60;
const RETRIED_STATUSES = [429, 502, 503, 504];

/** A client of the REST API. It retries requests and turns error responses into errors. */
export class ServiceClient {
  private readonly base: string;

  constructor(
    base: string,
    private readonly key: string,
  ) {
    this.base = base.replace(/\/+$/, '');
  }

  /**
   * Every call must be safe to retry: a creation carries an idempotency key.
   * @throws Error with the service's code and message, or the network failure, after five attempts
   */
  async call<Answer>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.retrying(() => this.send(method, path, body, headers));
  }

  /**
   * A call that must not be repeated, because each adds something.
   * @returns null without a body in the answer
   * @throws Error with the service's code and message, or the network failure
   */
  async once<Answer>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Answer | null> {
    const response = await this.send(method, path, body, {}).catch((error: unknown) => {
      throw new Error(`${this.base} cannot be reached`, { cause: error });
    });
    if (!response.ok) throw new Error(await errorText(response));
    return response.status === 204 ? null : ((await response.json()) as Answer);
  }

  /** A repeated upload gives the same bytes another id, which expires. */
  async upload<Answer>(path: string, purpose = 'vision'): Promise<Answer> {
    const form = new FormData();
    form.append('purpose', purpose);
    form.append('file', await fileOf(path), basename(path)); // read while it is sent
    return this.retrying(() =>
      fetch(`${this.base}/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.key}` },
        body: form,
        signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS),
      }),
    );
  }

  /** The body of a GET, while it arrives. @throws Error with the service's code and message, or the network failure */
  async read(path: string): Promise<AsyncIterable<Uint8Array>> {
    const { base, key } = this;
    const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
    const response = await fetch(base + path, { headers: { authorization: `Bearer ${key}` }, signal });
    if (!response.ok || !response.body) throw new Error(await errorText(response));
    return response.body;
  }

  private async retrying<Answer>(send: () => Promise<Response>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const response = await send().catch((error: unknown) => {
        if (attempt < MAX_ATTEMPTS) return null;
        throw new Error(`${this.base} cannot be reached`, { cause: error });
      });
      if (response?.ok) return (await response.json()) as Answer;
      const mayRetry = !response || RETRIED_STATUSES.includes(response.status);
      if (response && (!mayRetry || attempt >= MAX_ATTEMPTS)) throw new Error(await errorText(response));
      await response?.body?.cancel();
      await sleep(backoffMs(response, attempt));
    }
  }

  private send(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<Response> {
    return fetch(this.base + path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  }
}

/** Retry-After if the service sent it, otherwise 1, 2, 4, 8 s. */
function backoffMs(response: Response | null, attempt: number): number {
  const retryAfterMs = parseRetryAfter(response?.headers.get('retry-after'), Date.now(), 'fractions');
  return retryAfterMs ? Math.min(retryAfterMs, 1000 * MAX_BACKOFF_S) : 1000 * 2 ** (attempt - 1);
}

async function fileOf(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path); // throws before it returns a promise, without the path
  } catch (error) {
    throw new Error(`${path} cannot be read`, { cause: error });
  }
}
