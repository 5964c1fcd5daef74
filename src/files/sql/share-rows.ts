import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { ErasedPiece } from '../../auth/erasure/erasure-work.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';

/** The maximum number of rows of one piece. */
const PIECE = 500;

const PURGE: Statement = {
  name: 'files.purge_shares',
  text: `
    delete from shares where id = any(array(
      select id from shares where expires_at <= now() order by expires_at limit ${PIECE} for update skip locked))
    returning 1`,
};
const ERASE: Statement = {
  name: 'files.erase_shares',
  text: `delete from shares where id = any(array(select id from shares where api_key_id = $1 order by id limit ${PIECE}))`,
};

/** Raw SQL because each piece has a bounded number of rows. */
@Injectable()
export class ShareRows {
  constructor(private readonly sql: Sql) {}

  /**
   * Deletes one piece of the shares that have ended.
   * @returns how many
   */
  async purge(): Promise<number> {
    return (await this.sql.run(PURGE)).length;
  }

  async erase(tx: Tx, apiKeyId: string): Promise<ErasedPiece> {
    const shares = (await tx.query({ ...ERASE, values: [apiKeyId] })).rowCount ?? 0;
    return { erased: { shares }, mayBeMore: shares === PIECE };
  }
}

/**
 * Serialises the creation of shares of one key until the commit, so that two requests cannot both create the last share
 * that the limit allows. Raw SQL because TypeORM has no advisory locks.
 */
export async function lockSharesOfKey(tx: EntityManager, apiKeyId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('shares ' || $1, 0))`, [apiKeyId]);
}
