import pg from 'pg';
import { queryOnce } from './watch.ts';

/** Rows that a test locks, so that a statement of the service waits for them. */
export class LockedRows {
  private constructor(
    private readonly url: string,
    private readonly client: pg.Client,
    private readonly pid: number,
  ) {}

  /** @param where the table and a condition: `key_load where api_key_id = 'key_1'` */
  static of(url: string, where: string): Promise<LockedRows> {
    return LockedRows.by(url, `select 1 from ${where} for update`);
  }

  /** @param statement any statement that takes a lock; it runs in its own transaction, which `release` rolls back */
  static async by(url: string, statement: string): Promise<LockedRows> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin');
    await client.query(statement);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return new LockedRows(url, client, rows[0]!.pid);
  }

  /** Whether another connection waits for the lock. */
  async areAwaited(): Promise<boolean> {
    return (await this.waiting()) > 0;
  }

  /** How many connections wait for the lock. */
  async waiting(): Promise<number> {
    const waiting = 'select pid from pg_stat_activity where $1::int = any(pg_blocking_pids(pid))';
    return (await queryOnce(this.url, waiting, [this.pid])).length;
  }

  async release(): Promise<void> {
    await this.client.end();
  }
}
