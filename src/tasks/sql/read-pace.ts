import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Tasks that started within the `SAMPLE_S` seconds from `from_s`, over all processes. */
export interface StartsOf {
  /** Unix seconds. */
  from_s: number;
  started: number;
}

const STARTS: Statement = {
  name: 'tasks.read_starts',
  text: `
    select extract(epoch from starts_at)::float8 as from_s, sum(started)::int as started
    from pace_samples where starts_at > now() - make_interval(secs => $1) group by starts_at`,
};

export interface Outcomes {
  model: string;
  succeeded: number;
  failed: number;
}

const OUTCOMES: Statement = {
  name: 'tasks.read_outcomes',
  text: `
    select model, sum(succeeded)::int as succeeded, sum(failed)::int as failed
    from pace_samples where starts_at > now() - make_interval(secs => $1) group by model`,
};

/** Raw SQL because the statements return sums, and no entities. They sum up a few thousand rows at most. */
@Injectable()
export class ReadPace {
  constructor(private readonly sql: Sql) {}

  /** @param seconds back from now */
  starts(seconds: number): Promise<StartsOf[]> {
    return this.sql.run<StartsOf>(STARTS, [seconds]);
  }

  /** @param seconds back from now */
  outcomes(seconds: number): Promise<Outcomes[]> {
    return this.sql.run<Outcomes>(OUTCOMES, [seconds]);
  }
}
