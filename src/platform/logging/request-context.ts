import { AsyncLocalStorage } from 'node:async_hooks';

/** The id of the request that the current code serves, for the log; undefined outside of a request. */
export const currentRequestId = new AsyncLocalStorage<string | undefined>();

/**
 * Runs background work that a request has woken. It serves many requests, so its log lines must not carry the id of the one
 * that happened to wake it.
 */
export function outsideOfRequests<Result>(run: () => Result): Result {
  return currentRequestId.run(undefined, run);
}
