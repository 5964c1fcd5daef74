import type { Client } from 'pg';

/** Runs `work` in a transaction in which all its statements see the same snapshot of the database. */
export const withSnapshot = <T>(client: Client, work: () => Promise<T>): Promise<T> =>
  within(client, 'begin isolation level repeatable read read only', work);

/** Runs `work` in a transaction: everything that it writes is stored, or nothing. */
export const withTransaction = <T>(client: Client, work: () => Promise<T>): Promise<T> => within(client, 'begin', work);

async function within<T>(client: Client, begin: string, work: () => Promise<T>): Promise<T> {
  await client.query(begin);
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the connection may be gone
    throw error;
  }
}
