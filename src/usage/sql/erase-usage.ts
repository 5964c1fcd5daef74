import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import { readThrough } from '../../auth/erasure/read-through.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** The most rows that one statement reads or deletes. */
const ROWS = 5_000;

/** Reads the whole ledger in the order of task ids, because rows that no sum contains yet are in no index by key. */
const SEE: Statement = {
  name: 'usage.see_ledger',
  text: `
    with seen as (
      select task_id, api_key_id, metadata is not null as has_texts from usage_ledger
      where task_id > $2 order by task_id limit ${ROWS}
    )
    select max(task_id) as last, array_agg(task_id) filter (where api_key_id = $1 and has_texts) as ids from seen`,
};
const BLANK: Statement = {
  name: 'usage.blank_ledger',
  text: 'update usage_ledger set metadata = null where task_id = any($1::text[])',
};
/**
 * Deletes the sums by metadata of the API key. No number is lost, because each task is also in a sum without metadata.
 */
const DELETE_SUMS: Statement = {
  name: 'usage.erase_sums',
  text: `
    delete from usage_sums where ctid = any(array(
      select ctid from usage_sums where api_key_id = $1 and metadata_key <> '' limit ${ROWS}))`,
};

/** Deletes the names in the metadata of the API key, and the hashes of the values. */
const DELETE_VALUES: Statement = {
  name: 'usage.erase_values',
  text: `
    delete from usage_values where ctid = any(array(
      select ctid from usage_values where api_key_id = $1 limit ${ROWS}))`,
};

/**
 * Removes the metadata of the API key, because it is the only text in usage that clients wrote. The numbers stay until
 * USAGE_RETENTION_DAYS, because they account for money. The ledger goes first, so that rows added to the sums
 * afterwards have no metadata. Raw SQL because each statement is bounded.
 */
@Injectable()
export class EraseUsage implements OnModuleInit {
  constructor(
    private readonly sql: Sql,
    private readonly steps: ErasureSteps,
  ) {}

  onModuleInit(): void {
    this.steps.register('usage', async (work) => {
      await readThrough(this.sql, work, SEE, async (tx, ids) => {
        const { rowCount } = await tx.query({ ...BLANK, values: [ids] });
        return { usage_records: rowCount ?? 0 };
      });
      for (const statement of [DELETE_SUMS, DELETE_VALUES]) {
        await work.repeat(async (tx) => {
          const { rowCount } = await tx.query({ ...statement, values: [work.apiKeyId] });
          return { erased: {}, mayBeMore: rowCount === ROWS };
        });
      }
      return 'done';
    });
  }
}
