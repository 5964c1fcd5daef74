import { Counter } from 'prom-client';
import type { ErrorCode } from './catalog.ts';

/**
 * Counts the errors that clients get: over HTTP, in streams and in answers of GraphQL. `Metrics` publishes the counter.
 */
export const renderedErrors = new Counter({
  name: 'darkroom_http_errors_total',
  help: 'Errors that clients got, by the code of the catalogue; those of GraphQL too.',
  labelNames: ['code'] as const,
  registers: [],
});

const codes = new WeakMap<object, ErrorCode>();

/** Remembers which failure of the server a response reports. */
export function noteServerError(response: object, code: ErrorCode): void {
  codes.set(response, code);
}

/** @returns undefined unless the response reports a failure of the server */
export const serverErrorOf = (response: object): ErrorCode | undefined => codes.get(response);
