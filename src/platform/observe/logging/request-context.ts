import { AsyncLocalStorage } from 'node:async_hooks';
import { currentScope } from '../traces/span.ts';

/** The id of the request that the current code serves, for the log; undefined outside of a request. */
export const currentRequestId = new AsyncLocalStorage<string | undefined>();

/**
 * Runs background work that a request has started. The work serves many requests, so its log lines and spans must not
 * belong to the request that happened to start it.
 */
export function outsideOfRequests<Result>(run: () => Result): Result {
  return currentRequestId.run(undefined, () => currentScope.run(undefined, run));
}
