import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { hiddenStatus } from './planner.ts';

/** Rows of one look; the next look follows at once when it was full. */
export const SWEEP_ROWS = 500;

const OVERDUE: Statement = {
  name: 'tasks.overdue',
  text: `select id, api_key_id from tasks where completed_at is null and deadline_at < now() order by deadline_at limit $1`,
};

const WORN_OUT: Statement = {
  name: 'tasks.worn_out',
  text: `
    select id, api_key_id, attempt from tasks
    where lease_until < now() and ${hiddenStatus('tasks')} = 'running' and losses + 1 >= $2
    order by lease_until limit $1`,
};

const KEYS_WITH_PARKED: Statement = {
  name: 'tasks.keys_with_parked',
  text: `
    select l.api_key_id from key_load l
    where l.queued > 0 and (l.max_running = 0 or l.running < l.max_running)
      and exists (select 1 from tasks t where t.api_key_id = l.api_key_id and t.parked)
    limit $1`,
};

/** What the sweep has to see; every look is an index scan of few rows. */
@Injectable()
export class SweepTasks {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  overdue(): Promise<{ id: string; api_key_id: string }[]> {
    return this.sql.run(OVERDUE, [SWEEP_ROWS]);
  }

  wornOut(): Promise<{ id: string; api_key_id: string; attempt: number }[]> {
    return this.sql.run(WORN_OUT, [SWEEP_ROWS, this.config.taskMaxAttempts]);
  }

  async keysWithParked(): Promise<string[]> {
    return (await this.sql.run<{ api_key_id: string }>(KEYS_WITH_PARKED, [SWEEP_ROWS])).map((row) => row.api_key_id);
  }
}
