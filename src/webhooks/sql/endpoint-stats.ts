import { Injectable } from '@nestjs/common';
import { HOUR_MS, idBoundAt } from '../../platform/schema/time.ts';
import { BatchPerKey } from '../../platform/database/batch-per-key.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** The maximum number of attempts of one endpoint that are read. Of a busier endpoint only the newest ones count. */
const MAX_ATTEMPTS = 50_000;

/**
 * How much further back the ids reach than the span of time. Ids contain the clock of a process, times are those of the
 * database. The bound on ids limits how much of the index is read.
 */
const ID_SLACK_MS = 60_000;

export interface EndpointStats {
  delivered: number;
  failed: number;
  waiting: number;
  p50_ms: number | null;
  last_attempted_at: Date | null;
  last_status_code: number | null;
  /** The hours with attempts, oldest first. `hour` is in unix seconds. */
  hourly: { hour: number; accepted: number; refused: number }[];
}

/**
 * Each event counts once, by its present state; `hourly` counts attempts. Test events count only in the columns of the
 * last attempt. Raw SQL because of the percentile.
 */
const STATS: Statement = {
  name: 'webhooks.endpoint_stats',
  text: `
    select s.* from unnest($1::text[], $2::int[], $3::text[]) with ordinality as e(id, hours, bound, at)
     cross join lateral (
    with recent as (
      select event_id, duration_ms, error, floor(extract(epoch from attempted_at) / 3600)::int8 * 3600 as hour from webhook_deliveries
       where endpoint_id = e.id and id > e.bound and attempted_at > now() - make_interval(hours => e.hours)
         and trigger <> 'test'
       order by id desc limit ${MAX_ATTEMPTS}
    ), events as (
      select w.delivered_at is not null as delivered, w.due_at is not null or w.lease_until is not null as waiting
        from (select distinct event_id from recent) r
        join webhook_dispatches w on w.event_id = r.event_id and w.endpoint_id = e.id
    ), hours as (
      select hour, count(*) filter (where error is null) as accepted, count(*) filter (where error is not null) as refused
        from recent group by hour
    ), last as (
      select attempted_at, status_code from webhook_deliveries where endpoint_id = e.id order by id desc limit 1
    )
    select count(*) filter (where delivered)::int as delivered,
           count(*) filter (where waiting and not delivered)::int as waiting,
           count(*) filter (where not waiting and not delivered)::int as failed,
           (select percentile_disc(0.5) within group (order by duration_ms) from recent where error is null) as p50_ms,
           (select attempted_at from last) as last_attempted_at,
           (select status_code from last) as last_status_code,
           (select coalesce(json_agg(json_build_object('hour', hour, 'accepted', accepted, 'refused', refused) order by hour), '[]')
              from hours) as hourly
      from events) s
     order by e.at`,
};

interface Question {
  endpointId: string;
  hours: number;
}

@Injectable()
export class ReadEndpointStats {
  private readonly batches = new BatchPerKey<Question, EndpointStats>((questions) => this.read(questions), {
    name: 'webhooks.endpoint_stats',
    maxItems: 100,
  });

  constructor(private readonly sql: Sql) {}

  /**
   * Reads the statistics of an endpoint. The calls of a key in one turn of the event loop, such as those of one GraphQL
   * document, share one statement.
   */
  of(apiKeyId: string, endpointId: string, hours: number): Promise<EndpointStats> {
    return this.batches.add(apiKeyId, { endpointId, hours });
  }

  private read(questions: Question[]): Promise<EndpointStats[]> {
    const now = Date.now();
    return this.sql.run<EndpointStats>(STATS, [
      questions.map(({ endpointId }) => endpointId),
      questions.map(({ hours }) => hours),
      questions.map(({ hours }) => idBoundAt(now - hours * HOUR_MS - ID_SLACK_MS, 'dlv')),
    ]);
  }
}
