import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { NewTask } from './new-task.ts';

/**
 * SQL fragment of a create; needs the CTE `wanted` of new tasks. Computes for each API key how many of them its queue limit
 * admits, and how many unfinished tasks come before them. Rows are locked in order, so two processes cannot deadlock.
 */
export const LOAD = `
    load as (
      select l.api_key_id, l.queued + l.running as ahead, w.max_running,
             case when w.max_queued = 0 then w.tasks else greatest(least(w.tasks, w.max_queued - l.queued), 0) end as admitted
      from key_load l join (
        select api_key_id, count(*)::int as tasks, max(max_queued) as max_queued, max(max_running) as max_running
        from wanted group by api_key_id
      ) w using (api_key_id)
      order by l.api_key_id for update of l
    )`;

/** Why a task was not inserted. `no_counters`: its API key has no counters row, although this process has opened one. */
export type Refusal = 'known_key' | 'queue_full' | 'no_counters';

/** By task id; every task that is not among them was inserted. */
export type Refusals = Map<string, Refusal>;

/** SQL fragment of a create; needs the CTEs `wanted` and `load`, outer joined. */
export const REFUSAL = `
      case when admitted is null then 'no_counters' when place > admitted then 'queue_full' else 'known_key' end`;

const OPEN: Statement = {
  name: 'tasks.open_key_load',
  text: `insert into key_load (api_key_id) select distinct unnest($1::text[]) order by 1 on conflict do nothing`,
};

/** Creates the counters row of API keys. Raw SQL because it is part of every create, in key order to avoid deadlocks. */
@Injectable()
export class OpenKeyCounters {
  private readonly opened = new Set<string>();

  constructor(private readonly sql: Sql) {}

  /** Ensures that the API keys of these tasks have a counters row. Each key is written once per process. */
  async open(tasks: NewTask[]): Promise<void> {
    const unopened = tasks.map((task) => task.api_key_id).filter((id) => !this.opened.has(id));
    if (unopened.length === 0) return;
    await this.sql.run(OPEN, [unopened]);
    for (const id of unopened) this.opened.add(id);
  }

  /** Call when these tasks' API keys turned out to have no counters row: a failover, a restore or an operator removed it. */
  forget(tasks: NewTask[]): void {
    for (const task of tasks) this.opened.delete(task.api_key_id);
  }
}

/** Inserts tasks after opening the counters of their keys. Counters that were lost since are opened again, once. */
export async function insertOpened<Item extends NewTask>(
  counters: OpenKeyCounters,
  tasks: Item[],
  insert: (tasks: Item[]) => Promise<Refusals>,
): Promise<Refusals> {
  await counters.open(tasks);
  const refusals = await insert(tasks);
  const uncounted = tasks.filter(({ id }) => refusals.get(id) === 'no_counters');
  if (uncounted.length === 0) return refusals;
  counters.forget(uncounted);
  const again = await reopenAndInsert(counters, uncounted, insert);
  for (const { id } of uncounted) refusals.delete(id);
  return new Map([...refusals, ...again]);
}

/** Does not throw, because other tasks of the batch have been inserted by now. */
async function reopenAndInsert<Item extends NewTask>(
  counters: OpenKeyCounters,
  tasks: Item[],
  insert: (tasks: Item[]) => Promise<Refusals>,
): Promise<Refusals> {
  try {
    await counters.open(tasks);
    return await insert(tasks);
  } catch {
    return new Map(tasks.map(({ id }) => [id, 'no_counters']));
  }
}

export function refusalError({ max_queued }: NewTask, refusal: Refusal): ApiError {
  if (refusal === 'no_counters') return new ApiError('service_unavailable', { retryAfterS: 1 });
  return new ApiError('queue_full', {
    message: `This API key has ${max_queued} queued tasks, which is its limit.`,
  });
}
