import type { EntityManager } from 'typeorm';

/**
 * Serialises the creation of endpoints of one key until the commit, so that two requests cannot both create the tenth
 * endpoint. TypeORM has no advisory locks, hence raw SQL.
 */
export async function lockEndpointsOfKey(tx: EntityManager, apiKeyId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('webhook_endpoints ' || $1, 0))`, [apiKeyId]);
}
