import { AsyncLocalStorage } from 'node:async_hooks';

/** The id of the request that the current code serves, for the log; undefined outside of a request. */
export const currentRequestId = new AsyncLocalStorage<string>();
