import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { generateJob } from '../generate.job.ts';

/** Rows of one look; the next look follows at once when it was full. */
export const SWEEP_ROWS = 500;

const OVERDUE: Statement = {
  name: 'tasks.overdue',
  text: `select id from tasks where status in ('queued', 'running') and deadline_at < now() order by deadline_at limit $1`,
};

const WORN_OUT: Statement = {
  name: 'tasks.worn_out',
  text: `
    select id, attempt from tasks
    where status in ('queued', 'running') and not parked and lease_until < now() and status = 'running' and losses + 1 >= $2
    order by lease_until limit $1`,
};

/**
 * Queued or running, and nobody holds it: gives it a job again, unless one is waiting or was picked up just now. What
 * was looked at is left alone for the time of a lease, so a long backlog is not looked at over and over.
 */
const REQUEUE: Statement = {
  name: 'tasks.requeue',
  text: `
    with lapsed as (
      select id, status from tasks
      where status in ('queued', 'running') and not parked and lease_until < now()
        and (status = 'queued' or losses + 1 < $3)
      order by lease_until limit $1 for update skip locked
    ), jobless as (
      select id from lapsed where not exists (
        select 1 from graphile_worker.jobs j
        where j.key = 'generate:' || lapsed.id
          and (j.locked_at is null or j.locked_at > now() - make_interval(secs => $2)))
    ), looked as (
      update tasks t set lease_until = now() + make_interval(secs => $2) from lapsed l
      where t.id = l.id and l.status = 'queued'
    ), woken as (
      select count(*) as jobs from graphile_worker.add_jobs(coalesce((
        select array_agg(row('${generateJob.name}', json_build_object('taskId', id), null, null, null,
                             'generate:' || id, null, null)::graphile_worker.job_spec) from jobless), '{}'))
    )
    select (select count(*) from lapsed)::int as looked, (select jobs from woken)::int as woken`,
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

  overdue(): Promise<{ id: string }[]> {
    return this.sql.run(OVERDUE, [SWEEP_ROWS]);
  }

  wornOut(): Promise<{ id: string; attempt: number }[]> {
    return this.sql.run(WORN_OUT, [SWEEP_ROWS, this.config.taskMaxAttempts]);
  }

  async requeue(): Promise<{ looked: number; woken: number }> {
    const { taskLeaseS, taskMaxAttempts } = this.config;
    const [done] = await this.sql.run<{ looked: number; woken: number }>(REQUEUE, [
      SWEEP_ROWS,
      taskLeaseS,
      taskMaxAttempts,
    ]);
    return done ?? { looked: 0, woken: 0 };
  }

  async keysWithParked(): Promise<string[]> {
    return (await this.sql.run<{ api_key_id: string }>(KEYS_WITH_PARKED, [SWEEP_ROWS])).map((row) => row.api_key_id);
  }
}
