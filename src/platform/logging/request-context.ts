import { AsyncLocalStorage } from 'node:async_hooks';

/** The id of the request that the running code works for; undefined outside of any. For the logs. */
export const currentRequestId = new AsyncLocalStorage<string>();
