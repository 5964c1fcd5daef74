import type { EntityManager } from 'typeorm';

/** An arbitrary number, the same in every process. */
const BOOTSTRAP_LOCK = 7_274_613;

/**
 * Lets processes that start at the same time bootstrap one after the other. TypeORM has no advisory locks, hence raw
 * SQL. Each waits as long as a statement may take: with the lock time-out of the pool, one of several that start on a
 * busy machine would give up, and not start.
 */
export async function lockBootstrap(tx: EntityManager): Promise<void> {
  await tx.query('set local lock_timeout = 0');
  await tx.query('select pg_advisory_xact_lock($1)', [BOOTSTRAP_LOCK]);
}
