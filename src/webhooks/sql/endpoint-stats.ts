import { Injectable } from '@nestjs/common';
import { HOUR_MS } from '../../platform/time.ts';
import { idBoundAt } from '../../tasks/task-id.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Attempts that are read at most; a busier endpoint shows its newest ones. */
const MAX_ATTEMPTS = 50_000;

/** Ids sort by the clock of a process, times are those of the database. The bound keeps the index short. */
const ID_SLACK_MS = 60_000;

export interface EndpointStats {
  delivered: number;
  failed: number;
  waiting: number;
  p50_ms: number | null;
  last_attempted_at: Date | null;
  last_status_code: number | null;
}

/** An event counts once, by where it stands now. Tests do not count. Raw SQL because of the percentile. */
const STATS: Statement = {
  name: 'webhooks.endpoint_stats',
  text: `
    with recent as (
      select event_id, duration_ms, error from webhook_deliveries
       where endpoint_id = $1 and id > $3 and attempted_at > now() - make_interval(hours => $2::int) and trigger <> 'test'
       order by id desc limit ${MAX_ATTEMPTS}
    ), events as (
      select w.delivered_at is not null as delivered, w.due_at is not null or w.lease_until is not null as waiting
        from (select distinct event_id from recent) r
        join webhook_dispatches w on w.event_id = r.event_id and w.endpoint_id = $1
    ), last as (
      select attempted_at, status_code from webhook_deliveries where endpoint_id = $1 order by id desc limit 1
    )
    select count(*) filter (where delivered)::int as delivered,
           count(*) filter (where waiting and not delivered)::int as waiting,
           count(*) filter (where not waiting and not delivered)::int as failed,
           (select percentile_disc(0.5) within group (order by duration_ms) from recent where error is null) as p50_ms,
           (select attempted_at from last) as last_attempted_at,
           (select status_code from last) as last_status_code
      from events`,
};

@Injectable()
export class ReadEndpointStats {
  constructor(private readonly sql: Sql) {}

  async of(endpointId: string, hours: number): Promise<EndpointStats> {
    const [stats] = await this.sql.run<EndpointStats>(STATS, [
      endpointId,
      hours,
      idBoundAt(Date.now() - hours * HOUR_MS - ID_SLACK_MS, 'dlv'),
    ]);
    return stats!;
  }
}
