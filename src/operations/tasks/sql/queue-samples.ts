import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../../platform/database/sql.ts';
import { FREE_PLACES } from '../../../tasks/record/free-places.ts';

/** The number of minutes for which samples are kept. A reader may ask for no more. */
export const MAX_MINUTES = 1_440;

/**
 * Every worker process runs this statement. The first run in a minute writes the row, and the later ones read no
 * counters. The statement sums the exact counters of the keys, so it counts no tasks. It also deletes rows that have
 * been kept long enough.
 */
const SAMPLE: Statement = {
  name: 'operations.sample_queue',
  text: `
    with old as (delete from queue_samples where minute <= date_trunc('minute', now()) - make_interval(mins => $1))
    insert into queue_samples (minute, waiting, parked, running)
    select date_trunc('minute', now()), coalesce(sum(queued) filter (where not is_full), 0),
           coalesce(sum(queued) filter (where is_full), 0), coalesce(sum(running), 0)
    from (select queued, running, ${FREE_PLACES} = 0 as is_full from key_load l where queued > 0 or running > 0) load
    having not exists (select from queue_samples where minute = date_trunc('minute', now()))
    on conflict (minute) do nothing`,
};

/** A minute of the history. The counts are null if no process took a sample. */
export interface QueueMinute {
  /** Unix seconds. */
  minute: number;
  waiting: number | null;
  parked: number | null;
  running: number | null;
}

const HISTORY: Statement = {
  name: 'operations.queue_history',
  text: `
    select extract(epoch from m.minute)::float8 as minute, waiting, parked, running
    from generate_series(date_trunc('minute', now()) - make_interval(mins => $1 - 1), date_trunc('minute', now()),
                         interval '1 minute') m(minute)
      left join queue_samples s on s.minute = m.minute
        and s.minute > date_trunc('minute', now()) - make_interval(mins => $1)
    order by m.minute`,
};

/** Raw SQL because the minutes follow the database's clock. */
@Injectable()
export class QueueSamples {
  constructor(private readonly sql: Sql) {}

  async take(): Promise<void> {
    await this.sql.run(SAMPLE, [MAX_MINUTES]);
  }

  /** The last `minutes` minutes, including the current one, oldest first. */
  last(minutes: number): Promise<QueueMinute[]> {
    return this.sql.run<QueueMinute>(HISTORY, [minutes]);
  }
}
