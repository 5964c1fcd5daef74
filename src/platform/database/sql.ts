import { Injectable } from '@nestjs/common';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { DataSource } from 'typeorm';

/** A statement that PostgreSQL prepares once a connection; `name`, at most 63 bytes, must be unique in the program. */
export interface Statement {
  name: string;
  text: string;
}

/** Inside somebody's transaction. */
export type Tx = Pick<PoolClient, 'query'>;

const DEADLOCK_DETECTED = '40P01';
const SERIALIZATION_FAILURE = '40001';
/** A newer version has changed a table under a prepared `select *`; nothing was done, and the connection is dropped. */
const STALE_PLAN = { code: '0A000', routine: 'RevalidateCachedQuery' };
/** More than a pool has connections, each of which may hold a stale plan. */
const MOST_STALE = 50;

/**
 * Prepared statements on TypeORM's own pool. The acts of the hot path go through here: no hydration, one parse a
 * connection. Everything else uses repositories.
 */
@Injectable()
export class Sql {
  constructor(private readonly dataSource: DataSource) {}

  /** One statement, which is its own transaction. */
  async run<Row>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return retrying(async () => (await this.pool.query({ ...statement, values })).rows as Row[]);
  }

  /**
   * Several statements in one transaction; `work` may run twice, when PostgreSQL breaks a deadlock at our cost. Connections are
   * pipelined: `begin` is on its way together with the first statement, and what `work` sends before it waits goes together too.
   * @param work its `commit` sends the commit behind the last statement, without waiting for the answer of that
   */
  async transaction<Result>(work: (tx: Tx, commit: () => void) => Promise<Result>): Promise<Result> {
    return retrying(async () => {
      const client = await this.pool.connect();
      try {
        const begun = ignoreUntilAwaited(client.query('begin'));
        let committing: Promise<QueryResult> | undefined;
        const commit = () => (committing ??= ignoreUntilAwaited(client.query('commit')));
        const result = await work(client, commit);
        await begun;
        const { command } = await commit();
        if (command !== 'COMMIT') throw new Error('A statement of the transaction failed, and nobody said so.');
        client.release();
        return result;
      } catch (error) {
        await client.query('rollback').then(
          () => client.release(isStalePlan(error)),
          (broken: Error) => client.release(broken),
        );
        throw error;
      }
    });
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }
}

/** Sent ahead of what it stands for: its failure is told by whoever waits for it, and until then it is nobody's. */
function ignoreUntilAwaited<Result>(sent: Promise<Result>): Promise<Result> {
  sent.catch(() => undefined);
  return sent;
}

/** Once after a deadlock; as often as there are connections after a change of a table. */
async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let stale = 0, deadlocks = 0; ;) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      const isDeadlock = code === DEADLOCK_DETECTED || code === SERIALIZATION_FAILURE;
      if (isDeadlock ? ++deadlocks > 1 : !isStalePlan(error) || ++stale > MOST_STALE) throw error;
    }
  }
}

const isStalePlan = (error: unknown): boolean => {
  const { code, routine } = error as { code?: string; routine?: string };
  return code === STALE_PLAN.code && routine === STALE_PLAN.routine;
};
