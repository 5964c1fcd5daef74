import type { EntityManager } from 'typeorm';

/** An arbitrary number, the same in every process. */
const BOOTSTRAP_LOCK = 7_274_613;

/**
 * Processes that start at the same time bootstrap one after the other. Raw SQL, because TypeORM has no advisory locks.
 * The lock time-out of the pool is off here, so a process waits as long as a statement may take. Otherwise one of
 * several processes that start on a busy machine would give up and not start.
 */
export async function lockBootstrap(tx: EntityManager): Promise<void> {
  await tx.query('set local lock_timeout = 0');
  await tx.query('select pg_advisory_xact_lock($1)', [BOOTSTRAP_LOCK]);
}
