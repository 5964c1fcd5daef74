import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { RunKind } from '../record/run-kind.ts';
import { WORKER_ID } from '../record/worker-id.ts';

export interface PaceCounts {
  model: string;
  started: number;
  succeeded: number;
  failed: number;
}

export interface NewRunTimes extends RunKind {
  run_ms: number[];
  wait_ms: number[];
}

/** Seconds that one row of `pace_samples` covers. */
export const SAMPLE_S = 5;
/** The most successful runs of one kind whose times are kept. */
export const KEPT_RUNS = 200;
/** How long samples are kept. Success rates look back an hour. */
const KEPT = `interval '65 minutes'`;

const newest = (column: string): string =>
  `${column} = (r.${column} || excluded.${column})[greatest(cardinality(r.${column} || excluded.${column}) - ${KEPT_RUNS - 1}, 1):]`;

/** Writes rows in the order of their keys, so that processes that write at the same time do not deadlock. */
const RECORD: Statement = {
  name: 'tasks.record_pace',
  text: `
    with counted as (
      insert into pace_samples as p (starts_at, worker_id, model, started, succeeded, failed)
      select to_timestamp(floor(extract(epoch from now()) / ${SAMPLE_S}) * ${SAMPLE_S}), $1, model, started, succeeded, failed
      from json_to_recordset($2::json) as c(model text, started int, succeeded int, failed int) order by model
      on conflict (starts_at, worker_id, model) do update
        set started = p.started + excluded.started, succeeded = p.succeeded + excluded.succeeded,
            failed = p.failed + excluded.failed
    )
    insert into run_times as r (model, resolution, n, run_ms, wait_ms)
    select model, resolution, n, run_ms, wait_ms
    from json_to_recordset($3::json) as t(model text, resolution text, n int, run_ms int[], wait_ms int[]) order by model, resolution, n
    on conflict (model, resolution, n) do update
      set ${newest('run_ms')}, ${newest('wait_ms')}`,
};

const FORGET: Statement = {
  name: 'tasks.forget_pace',
  text: `
    delete from pace_samples where (starts_at, worker_id, model) in (
      select starts_at, worker_id, model from pace_samples where starts_at < now() - ${KEPT} for update skip locked)`,
};

/** Raw SQL because of the upserts: each process sends one statement every few seconds, however many tasks it runs. */
@Injectable()
export class RecordPace {
  constructor(private readonly sql: Sql) {}

  async record(counts: PaceCounts[], times: NewRunTimes[]): Promise<void> {
    await this.sql.run(RECORD, [WORKER_ID, JSON.stringify(counts), JSON.stringify(times)]);
  }

  /** Deletes what no estimate needs any more. */
  async forget(): Promise<void> {
    await this.sql.run(FORGET);
  }
}
