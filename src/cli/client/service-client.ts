import { setTimeout as sleep } from 'node:timers/promises';
import { parseRetryAfter } from '../../platform/http/retry-after.ts';

const TIMEOUT_MS = 45_000; // beyond the 30 s of a long poll
const ATTEMPTS = 5;
const MAX_PAUSE_S = 60;

/** The REST API from a client's side: retries what is safe to retry, and turns error answers into errors. */
export class ServiceClient {
  readonly #base: string;
  readonly #key: string;

  constructor(base: string, key: string) {
    this.#base = base.replace(/\/+$/, '');
    this.#key = key;
  }

  /**
   * @param body every call is repeatable: a creation carries its idempotency key
   * @throws Error with the service's own words, or what broke after five attempts
   */
  async call<Answer>(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.#send(method, path, body, headers).catch((error: unknown) => {
        if (attempt < ATTEMPTS) return null;
        throw new Error(`${this.#base} cannot be reached`, { cause: error });
      });
      if (response?.ok) return (await response.json()) as Answer;
      const worthRetrying = !response || [429, 502, 503, 504].includes(response.status);
      if (response && (!worthRetrying || attempt >= ATTEMPTS)) throw new Error(await wordsOf(response));
      await response?.body?.cancel();
      await sleep(pauseMs(response, attempt));
    }
  }

  #send(method: string, path: string, body: object | undefined, headers: Record<string, string>): Promise<Response> {
    return fetch(this.#base + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  }
}

function pauseMs(response: Response | null, attempt: number): number {
  const askedMs = parseRetryAfter(response?.headers.get('retry-after'), Date.now(), 'fractions');
  return askedMs ? Math.min(askedMs, 1000 * MAX_PAUSE_S) : 1000 * 2 ** (attempt - 1);
}

async function wordsOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return `${error.code}: ${error.message}`;
  } catch {
    return `The service answered ${response.status}.`;
  }
}
