import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import { readThrough } from '../../auth/erasure/read-through.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** The most rows that one statement reads. The table contains only the calls of the last hour. */
const CALLS = 5_000;

/** Reads the table in pieces, in the order of ids, because the index by key has only undelivered calls. */
const SEE: Statement = {
  name: 'calls.see',
  text: `
    with seen as (select id, api_key_id from calls where id > $2 order by id limit ${CALLS})
    select max(id) as last, array_agg(id) filter (where api_key_id = $1) as ids from seen`,
};
const DELETE: Statement = { name: 'calls.erase', text: 'delete from calls where id = any($1::text[])' };

/** Erases the calls of an API key. Raw SQL because each statement reads a bounded number of rows. */
@Injectable()
export class EraseCalls implements OnModuleInit {
  constructor(
    private readonly sql: Sql,
    private readonly steps: ErasureSteps,
  ) {}

  onModuleInit(): void {
    this.steps.register('calls', (work) =>
      readThrough(this.sql, work, SEE, async (tx, ids) => {
        const { rowCount } = await tx.query({ ...DELETE, values: [ids] });
        return { calls: rowCount ?? 0 };
      }),
    );
  }
}
