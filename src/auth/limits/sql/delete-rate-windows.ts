import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../../platform/database/sql.ts';

/** The maximum number of windows that one round deletes. */
export const PURGE_WINDOWS = 1_000;

const DELETE: Statement = {
  name: 'auth.delete_rate_windows',
  text: `
    with over as (
      select api_key_id, bucket from rate_windows where ends_at < now() - interval '10 minutes'
      order by api_key_id, bucket limit ${PURGE_WINDOWS} for update skip locked
    )
    delete from rate_windows w using over where w.api_key_id = over.api_key_id and w.bucket = over.bucket returning 1`,
};

/**
 * Raw SQL because of `skip locked`: concurrent workers skip each other's rows, and never wait for a request that opens
 * a window.
 */
@Injectable()
export class DeleteRateWindows {
  constructor(private readonly sql: Sql) {}

  /**
   * Deletes up to `PURGE_WINDOWS` windows that ended at least 10 minutes ago. The next request of their key opens a new
   * one.
   * @returns how many were deleted
   */
  async deleteEnded(): Promise<number> {
    return (await this.sql.run(DELETE)).length;
  }
}
