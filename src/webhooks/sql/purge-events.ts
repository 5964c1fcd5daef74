import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { DROPPED_WITHIN_DAYS } from '../../platform/database/partitions/dropped-below.ts';
import { hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { restOf } from '../../platform/database/partitions/read-partitions.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { countPurged } from '../../platform/observe/measuring/purge-metrics.ts';
import { DROPPED_BELOW } from './event-partitions.ts';

/** Events, or dispatches, of one statement. */
const MAX_ROWS = 500;

const purge = (name: string, condition: string, events: string): Statement => ({
  name,
  text: `
    with expired as (
      select id from ${events} where expires_at < now() and ${condition} limit $1 for update skip locked
    ), dispatches as (
      delete from webhook_dispatches d using expired e where d.event_id = e.id
    ), deliveries as (
      delete from webhook_deliveries d using expired e where d.event_id = e.id
    )
    delete from webhook_events v using expired e where v.id = e.id returning 1`,
});

const PURGE = purge('webhooks.purge', `id >= ${DROPPED_BELOW}`, 'webhook_events');
/** Events whose partition should have been dropped by now. Something else may keep it, and what has expired must not stay with it. */
const PURGE_LEFT = purge(
  'webhooks.purge_left',
  `id < ${DROPPED_BELOW} and expires_at < now() - make_interval(days => $2)`,
  'webhook_events',
);
/** The partition of what belongs to no other is never dropped. */
const PURGE_REST = purge('webhooks.purge_rest', `id < ${DROPPED_BELOW}`, restOf('webhook_events'));

/** Of events whose partition is dropped soon: what has expired is not sent. */
const STOP_EXPIRED: Statement = {
  name: 'webhooks.stop_expired',
  text: `
    with due as (
      select d.event_id, d.endpoint_id from webhook_dispatches d
      where d.due_at is not null and d.event_id < ${DROPPED_BELOW} and exists (
        select from webhook_events v where v.id = d.event_id and ${hiddenTime('v.expires_at')} < now() ${PLANNED_SEPARATELY})
      limit $1 for update of d skip locked
    )
    delete from webhook_dispatches d using due where d.event_id = due.event_id and d.endpoint_id = due.endpoint_id returning 1`,
};

/** Raw SQL because of limits and locked rows: several workers purge at once, each its own rows. */
@Injectable()
export class PurgeEvents {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** Deletes expired events with what belongs to them. @returns whether more rows may be left */
  async run(): Promise<boolean> {
    let mayBeMore = false;
    const leftAfterDays = this.config.taskPartitionDays + DROPPED_WITHIN_DAYS;
    for (const [statement, ...values] of [[PURGE], [PURGE_LEFT, leftAfterDays], [PURGE_REST]] as const) {
      const { length } = await this.sql.run(statement, [MAX_ROWS, ...values]);
      countPurged('events', length);
      mayBeMore ||= length === MAX_ROWS;
    }
    const { length } = await this.sql.run(STOP_EXPIRED, [MAX_ROWS]);
    return mayBeMore || length === MAX_ROWS;
  }
}
