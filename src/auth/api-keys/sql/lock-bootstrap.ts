import type { EntityManager } from 'typeorm';

/** An arbitrary number, the same in every process. */
const BOOTSTRAP_LOCK = 7_274_613;

/**
 * Lets processes that start at the same time bootstrap one after the other. TypeORM has no advisory locks, hence raw
 * SQL.
 */
export async function lockBootstrap(tx: EntityManager): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [BOOTSTRAP_LOCK]);
}
