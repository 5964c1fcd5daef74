import { Counter } from 'prom-client';
import type { ErrorCode } from './catalog.ts';

/** Every error that a client gets, over HTTP, in a stream or in an answer of GraphQL. The platform serves it. */
export const renderedErrors = new Counter({
  name: 'darkroom_http_errors_total',
  help: 'Errors that clients got, by the code of the catalogue; those of GraphQL too.',
  labelNames: ['code'] as const,
  registers: [],
});

const codes = new WeakMap<object, ErrorCode>();

/** Remembers the failure of the server that a response reports. */
export function noteServerError(response: object, code: ErrorCode): void {
  codes.set(response, code);
}

/** @returns undefined unless the response reports a failure of the server */
export const serverErrorOf = (response: object): ErrorCode | undefined => codes.get(response);
