import { AsyncLocalStorage } from 'node:async_hooks';
import { WORK_BUCKETS } from '../../platform/observe/measuring/buckets.ts';
import { closedLabel, OTHER } from '../../platform/observe/measuring/closed-label.ts';
import { histogram } from '../../platform/observe/measuring/declare.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';

const seconds = histogram(
  'http_client_request_duration_seconds',
  'Time of a request to an upstream, from its connection to the last byte of the answer.',
  WORK_BUCKETS,
  ['http_request_method', 'server_address', 'http_response_status_code', 'error_type', 'darkroom_call'],
);

/** The purpose of a request. `result`: reads or downloads the result of a finished job. */
export type UpstreamCallKind = 'submit' | 'poll' | 'find' | 'cancel' | 'result';

const kind = new AsyncLocalStorage<UpstreamCallKind>();

/** Calls `run`. All requests that it sends have this purpose. */
export const callingFor = <Result>(purpose: UpstreamCallKind, run: () => Result): Result => kind.run(purpose, run);

/**
 * The hosts of bindings. Any other host comes from a link to a result, which the upstream chooses, so it is no label
 * value.
 */
const hosts = new Set<string>();

/**
 * Makes the host of an address a label value of the metrics of calls.
 * @param baseUrl the address of a binding
 */
export function callsGoTo(baseUrl: string): void {
  hosts.add(new URL(baseUrl).hostname);
}

const methodOf = closedLabel(['GET', 'POST', 'PUT', 'DELETE']);
const STATUSES = `200 201 202 204 301 302 303 304 307 308
  400 401 402 403 404 405 408 409 410 413 415 422 425 429
  500 501 502 503 504 520 522 524 529`;
const statusOf = closedLabel(STATUSES.split(/\s+/));

interface Call {
  url: string | URL;
  method: string;
  signal: AbortSignal | undefined;
}

/**
 * Measures a request. If `callingFor` has set no purpose, the HTTP method decides it.
 * @param send calls `answered` with the status of the answer
 */
export async function measuredCall<Reply>(
  { url, method, signal }: Call,
  send: (answered: (status: number) => void) => Promise<Reply>,
): Promise<Reply> {
  const begunMs = performance.now();
  let status: number | null = null;
  const record = (failure?: string): void => {
    const { hostname } = new URL(url);
    const error_type = status !== null && status >= 400 ? 'status' : failure;
    const labels = {
      http_request_method: methodOf(method),
      server_address: hosts.has(hostname) ? hostname : OTHER,
      darkroom_call: kind.getStore() ?? usualKind(method),
      ...(status !== null && { http_response_status_code: statusOf(String(status)) }),
      ...(error_type !== undefined && { error_type }),
    };
    seconds.observe(labels, (performance.now() - begunMs) / 1000);
  };
  try {
    const reply = await send((arrived) => (status = arrived));
    record();
    return reply;
  } catch (error) {
    record(errorType(error, signal));
    throw error;
  }
}

const usualKind = (method: string): UpstreamCallKind =>
  method === 'GET' ? 'poll' : method === 'DELETE' ? 'cancel' : 'submit';

function errorType(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted) return 'aborted';
  const { cause } = error as { cause?: unknown };
  const timedOut = [error, cause].some((each) => each instanceof OutboundError && each.kind === 'timeout');
  return timedOut ? 'timeout' : 'connection';
}
