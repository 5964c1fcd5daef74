import { AsyncLocalStorage } from 'node:async_hooks';
import { currentScope } from '../traces/span.ts';

/** A request that is being served, or a message on a socket. */
export interface ServedRequest {
  /** For the log. */
  readonly id: string;
  /**
   * Whose share of the connections to the database the request uses: an API key, or an address where no key is needed.
   * Undefined until the guard has run.
   */
  shareOf?: string;
  /** How many characters of the inputs and metadata of tasks the lists of the request have read. */
  listedCharacters?: number;
}

/** The request that the current code serves; undefined outside of a request. */
export const currentRequest = new AsyncLocalStorage<ServedRequest | undefined>();

/** Call this before each further answer to one request, such as a state of a subscription: each may list as much. */
export function listAnew(): void {
  const request = currentRequest.getStore();
  if (request) request.listedCharacters = 0;
}

/**
 * Runs background work that a request has started. The work serves many requests, so its log lines, spans and
 * connections must not belong to the request that happened to start it.
 */
export function outsideOfRequests<Result>(run: () => Result): Result {
  return currentRequest.run(undefined, () => currentScope.run(undefined, run));
}
