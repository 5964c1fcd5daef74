import { Pool, type PoolConfig } from 'pg';

/**
 * pg's pool, but a connection that breaks while somebody holds it cannot end the process: the client's `error` event has
 * no listener then, and Node throws such events. Whoever holds it learns of it from the rejected query.
 */
export class SteadyPool extends Pool {
  constructor(options?: PoolConfig) {
    super(options);
    this.on('error', () => undefined); // an idle connection broke; the pool has dropped it already
    this.on('connect', (client) => client.on('error', () => undefined));
  }
}
