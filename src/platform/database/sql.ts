import { Injectable } from '@nestjs/common';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { measured } from './statement-metrics.ts';

/** A statement that PostgreSQL prepares once per connection. */
export interface Statement {
  /** At most 63 bytes, unique in the program. Its first word is a label of the metrics. */
  name: string;
  text: string;
  /**
   * Set this if the text depends on what a client asks for. PostgreSQL then plans the statement each time. Otherwise a
   * connection would keep each such text as long as it lives, and clients could cause 100,000 texts.
   */
  isUnprepared?: boolean;
  /** The statement skips locked rows. If it still has to wait for a row, it fails and is repeated. */
  skipsLocked?: true;
}

/** A connection inside an open transaction. */
export type Tx = Pick<PoolClient, 'query'>;

const DEADLOCK_DETECTED = '40P01';
const SERIALIZATION_FAILURE = '40001';
const LOCK_NOT_AVAILABLE = '55P03';
/**
 * The error of a prepared `select *` after a newer version of the service has changed the table. The statement had no
 * effect, and the connection is dropped.
 */
const STALE_PLAN = { code: '0A000', routine: 'RevalidateCachedQuery' };
/**
 * Each connection of the pool may have a stale plan. In a pool of more than 50 connections, a statement may fail
 * although another connection could run it.
 */
const MAX_STALE_PLANS = 50;

/**
 * Runs prepared statements on TypeORM's own pool: no hydration, one parse per connection. Do not call it inside a
 * transaction of TypeORM, because it takes a second connection.
 */
@Injectable()
export class Sql {
  constructor(private readonly dataSource: DataSource) {}

  /** Runs one statement, which is its own transaction. */
  async run<Row>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return retrying(async () => {
      const { rows } = await measured(statement.name, () => this.pool.query({ ...sent(statement), values }));
      return rows as Row[];
    }, statement.skipsLocked);
  }

  /**
   * Like `run`, but a row is an array of its values, in the order of the columns. For rows of many columns: pg assigns
   * each column by its name, at three times the cost of an object literal.
   */
  async runForValues<Values extends readonly unknown[]>(
    statement: Statement,
    values: unknown[] = [],
  ): Promise<Values[]> {
    return retrying(async () => {
      const query = { ...sent(statement), values, rowMode: 'array' as const };
      const { rows } = await measured(statement.name, () => this.pool.query(query));
      return rows as unknown as Values[];
    });
  }

  /**
   * Runs several statements in one transaction. `work` runs again after a deadlock, a failed serialization or a stale
   * plan. Connections are pipelined: the statements of `work` are sent before `begin` is answered.
   * @param work may call `commit` to send the commit right after its last statement, without awaiting that statement
   */
  async transaction<Result>(work: (tx: Tx, commit: () => void) => Promise<Result>): Promise<Result> {
    return retrying(async () => {
      const client = await this.pool.connect();
      try {
        const begun = ignoreUntilAwaited(client.query('begin'));
        let committing: Promise<QueryResult> | undefined;
        const commit = () => (committing ??= ignoreUntilAwaited(client.query('commit')));
        const result = await work(measuredTx(client), commit);
        await begun;
        const { command } = await commit();
        if (command !== 'COMMIT') throw new Error('A statement of the transaction failed, but its error was ignored.');
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

  /**
   * TypeORM's pool. The cast is needed, because `driver` has the type of all drivers. In TypeORM 1.1, `master` is a
   * public field of the PostgreSQL driver.
   */
  private get pool(): Pool {
    return (this.dataSource.driver as PostgresDriver).master as Pool;
  }
}

/**
 * The query for pg. An unprepared statement has its name in a comment, so that the name shows in `pg_stat_activity`.
 */
const sent = ({ name, text, isUnprepared }: Statement): { name?: string; text: string } =>
  isUnprepared ? { text: `/* ${name} */ ${text}` } : { name, text };

/** The same connection, but each query that is a `Statement` is measured. Each query is still sent at once. */
const measuredTx = (client: PoolClient): Tx => {
  const query = (sent: string | Statement, values?: unknown[]) =>
    typeof sent === 'string'
      ? client.query(sent, values)
      : measured(sent.name, () => client.query(sent as QueryConfig, values));
  return { query: query as PoolClient['query'] };
};

/**
 * For a query issued before it is awaited. The no-op catch avoids an unhandledRejection; the later await still throws.
 */
function ignoreUntilAwaited<Result>(sent: Promise<Result>): Promise<Result> {
  sent.catch(() => undefined);
  return sent;
}

/**
 * Retries once after a conflict of transactions, and up to MAX_STALE_PLANS times after a stale plan. With
 * `skipsLocked`, a lock timeout counts as such a conflict.
 */
async function retrying<Result>(work: () => Promise<Result>, skipsLocked = false): Promise<Result> {
  for (let stale = 0, deadlocks = 0; ;) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      const isDeadlock =
        code === DEADLOCK_DETECTED || code === SERIALIZATION_FAILURE || (skipsLocked && code === LOCK_NOT_AVAILABLE);
      if (isDeadlock ? ++deadlocks > 1 : !isStalePlan(error) || ++stale > MAX_STALE_PLANS) throw error;
    }
  }
}

const isStalePlan = (error: unknown): boolean => {
  const { code, routine } = error as { code?: string; routine?: string };
  return code === STALE_PLAN.code && routine === STALE_PLAN.routine;
};
