import { Injectable } from '@nestjs/common';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { Config } from '../../platform/config.ts';
import type { Task } from '../task.entity.ts';
import { WORKER_ID } from '../worker-id.ts';

/** A task with the time it has left, by the database's clock. */
export type ClaimedTask = Task & { remaining_s: number };

/**
 * Takes tasks that are queued, or running under a lease that has lapsed, and raises `attempt`: from here on only
 * writes that name the new number count. Always in the order tasks -> key_load, as in every act that takes both, so
 * there is no deadlock. It waits for a row that another act holds for a moment: skipping it would use up the job that
 * calls for it. `key_load` is read under its lock, so a key never runs more than it may, in any number of
 * processes; what it may not run is parked, and the key's next task to end wakes it.
 */
const CLAIM: Statement = {
  name: 'tasks.claim',
  text: `
    with ready as (
      select id, api_key_id, status from tasks
      where id = any($1::text[])
        and (status = 'queued' or (status = 'running' and lease_until < now() and losses + 1 < $4))
      order by id for update
    ), load as (
      select api_key_id, running, max_running from key_load
      where api_key_id in (select api_key_id from ready where status = 'queued') order by api_key_id for update
    ), placed as (
      select *, row_number() over (partition by api_key_id, status order by id) as place from ready
    ), granted as (
      select p.id, p.status from placed p left join load l using (api_key_id)
      where p.status = 'running' or l.max_running = 0 or l.running + p.place <= l.max_running
    ), claimed as (
      update tasks t
      set status = 'running', attempt = t.attempt + 1, losses = t.losses + (g.status = 'running')::int,
          lease_until = now() + make_interval(secs => $3), worker_id = $2, parked = false,
          started_at = coalesce(t.started_at, now()), sequence = t.sequence + 1
      from granted g where t.id = g.id
      returning t.*, g.status as was, extract(epoch from t.deadline_at - now())::float8 as remaining_s
    ), counted as (
      update key_load l set queued = l.queued - c.tasks, running = l.running + c.tasks
      from (select api_key_id, count(*) as tasks from claimed where was = 'queued' group by api_key_id) c
      where l.api_key_id = c.api_key_id
    ), parked as (
      update tasks t set parked = true from ready r
      where t.id = r.id and r.id not in (select id from granted)
    )
    select * from claimed`,
};

@Injectable()
export class ClaimTasks {
  private readonly batch = new Batch<string, ClaimedTask | null>((ids) => this.flush(ids));

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** null when there is nothing to do: final, held by another, or its key runs as many tasks as it may. */
  claim(taskId: string): Promise<ClaimedTask | null> {
    return this.batch.add(taskId);
  }

  private async flush(ids: string[]): Promise<(ClaimedTask | null)[]> {
    const { taskLeaseS, taskMaxAttempts } = this.config;
    const claimed = await this.sql.run<ClaimedTask>(CLAIM, [ids, WORKER_ID, taskLeaseS, taskMaxAttempts]);
    const byId = new Map(claimed.map((task) => [task.id, task]));
    return ids.map((id) => {
      const task = byId.get(id) ?? null;
      byId.delete(id); // the same id twice in a batch is one claim
      return task;
    });
  }
}
