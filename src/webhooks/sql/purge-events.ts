import { Injectable } from '@nestjs/common';
import { inUtc } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { countPurged } from '../../platform/observe/measuring/purge-metrics.ts';

/** The maximum number of events in one statement. */
const MAX_ROWS = 1_000;

const PURGE: Statement = {
  name: 'webhooks.purge',
  text: `
    with expired as (
      select id from webhook_events where ${inUtc('expires_at')} < ${inUtc('now()')}
      order by ${inUtc('expires_at')} limit $1 for update skip locked
    ), dispatches as (
      delete from webhook_dispatches where event_id = any(array(select id from expired))
    ), deliveries as (
      delete from webhook_deliveries where event_id = any(array(select id from expired))
    )
    delete from webhook_events where id = any(array(select id from expired)) returning 1`,
};

/** Raw SQL because of limits and locked rows: concurrent workers purge different rows. */
@Injectable()
export class PurgeEvents {
  constructor(private readonly sql: Sql) {}

  /** Deletes expired events with their dispatches and deliveries. @returns whether more rows may be left */
  async run(): Promise<boolean> {
    const { length } = await this.sql.run(PURGE, [MAX_ROWS]);
    countPurged('events', length);
    return length === MAX_ROWS;
  }
}
