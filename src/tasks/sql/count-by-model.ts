import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** How many tasks of a model have not ended. */
export interface Unfinished {
  model: string;
  queued: number;
  running: number;
}

const COUNT: Statement = {
  name: 'tasks.count_unfinished',
  text: `
    select model, count(*) filter (where status = 'queued')::int as queued,
           count(*) filter (where status = 'running')::int as running
    from tasks_live group by model`,
};

/** Raw SQL because of the filtered aggregates. */
@Injectable()
export class CountByModel {
  constructor(private readonly sql: Sql) {}

  count(): Promise<Unfinished[]> {
    return this.sql.run<Unfinished>(COUNT);
  }
}
