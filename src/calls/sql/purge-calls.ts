import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Calls of one round. */
export const PURGE_CALLS = 5_000;

/** Nothing can join a call after 30 minutes; the rest covers retries that have joined and wait. */
const PURGE: Statement = {
  name: 'calls.purge',
  text: `
    with due as (
      select id from calls where created_at < now() - interval '1 hour'
      order by created_at limit ${PURGE_CALLS} for update skip locked
    )
    delete from calls c using due where c.id = due.id returning 1`,
};

/** Raw SQL because of `skip locked`: several workers purge at once, each its own rows. */
@Injectable()
export class PurgeCalls {
  constructor(private readonly sql: Sql) {}

  /** @returns how many were deleted */
  async purge(): Promise<number> {
    return (await this.sql.run(PURGE)).length;
  }
}
