import type { EntityManager } from 'typeorm';

/** The key of the advisory lock: an arbitrary number, the same in every process. */
const BOOTSTRAP_LOCK = 7_274_613;

/**
 * Processes that start at the same time bootstrap one after the other. Raw SQL, because TypeORM has no advisory locks.
 * The statement switches off the lock timeout of the pool, so a process waits as long as a statement may take.
 * Otherwise, on a busy machine, one of several starting processes would give up and not start.
 */
export async function lockBootstrap(tx: EntityManager): Promise<void> {
  await tx.query('set local lock_timeout = 0');
  await tx.query('select pg_advisory_xact_lock($1)', [BOOTSTRAP_LOCK]);
}
