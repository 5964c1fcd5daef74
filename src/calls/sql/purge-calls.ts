import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Maximum number of calls that one round deletes. */
export const PURGE_CALLS = 5_000;

/**
 * Deletes calls that are older than an hour. No retry can join a call after 30 minutes. The other 30 minutes are for
 * retries that have joined a call and still wait.
 */
const PURGE: Statement = {
  name: 'calls.purge',
  text: `
    with due as (
      select id from calls where created_at < now() - interval '1 hour'
      order by created_at limit ${PURGE_CALLS} for update skip locked
    )
    delete from calls c using due where c.id = due.id returning 1`,
};

/** Raw SQL because of `skip locked`: several workers purge at once, and each deletes its own rows. */
@Injectable()
export class PurgeCalls {
  constructor(private readonly sql: Sql) {}

  /** @returns how many calls were deleted */
  async purge(): Promise<number> {
    return (await this.sql.run(PURGE)).length;
  }
}
