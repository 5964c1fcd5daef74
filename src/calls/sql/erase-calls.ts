import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import { readThrough } from '../../auth/erasure/read-through.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Rows of one piece. The table holds the calls of an hour. */
const CALLS = 5_000;

/** A piece of the table, in order: only undelivered calls are in an index of their key. */
const SEE: Statement = {
  name: 'calls.see',
  text: `
    with seen as (select id, api_key_id from calls where id > $2 order by id limit ${CALLS})
    select max(id) as last, array_agg(id) filter (where api_key_id = $1) as ids from seen`,
};
const DELETE: Statement = { name: 'calls.erase', text: 'delete from calls where id = any($1::text[])' };

/** Erases the calls of an API key. Raw SQL because the pieces are bounded. */
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
