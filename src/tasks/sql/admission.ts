import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors/api-error.ts';
import { BudgetExceeded, type SpentBudget } from '../record/budget-exceeded.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { setLockTimeout } from './batch-by-key.ts';
import type { NewTask, PlacedTask } from './new-task.ts';
import { USUAL_WEIGHT } from '../../auth/limits/api-key-limits.ts';

/**
 * The line of waiting tasks: start-time fair queueing (Goyal, Vin and Cheng, 1996). A task's place is where the line is
 * now, or where the last task of its API key ends, whichever is later. The task ends at its place plus its cost. So
 * keys share the time of workers by their weight, and the places of a key rise while it has queued tasks. A key does
 * not pay later for what it used while nobody else waited. Each priority has a line of its own.
 */

/** The assumed milliseconds of a run about which nothing is known. */
const UNKNOWN_RUN_MS = 1_000;

/** The length of a task in the line: the next task of its key stands that much further back. */
const costOf = (runMs: number, weight: number): number => Math.max(1, Math.round((runMs * USUAL_WEIGHT) / weight));

/**
 * The most that a key with nothing queued stands behind the line. Tasks that were cancelled while they waited have
 * moved the key back, and must not count for hours. After 3,000 cancelled tasks of one second each, 600 tasks of
 * another key start before the key's next task, instead of 3,000.
 */
const MOST_BEHIND_MS = 600_000;

/**
 * SQL: where the next task of a key stands. `l` is the row of the key in `key_load`, if there is one; `n` is the row of
 * `line`.
 */
export const startOf = (lane: 'place' | 'low_place'): string =>
  `greatest(n.${lane}, case when l.queued > 0 then l.${lane} else least(coalesce(l.${lane}, 0), n.${lane} + ${MOST_BEHIND_MS}) end)`;

/** SQL fragment: where the next task of each priority stands. */
export const STARTS = `${startOf('place')} as start, ${startOf('low_place')} as low_start`;

/** The limits of an API key, and the tasks that a statement wants to create for it, as sent to PostgreSQL. */
export interface KeyRow {
  /** The number of the key in the statement, from 1. */
  key: number;
  api_key_id: string;
  tasks: number;
  /** Tasks of low priority among `tasks`. */
  low_tasks: number;
  /** For each task of the key, the summed cost of the key's normal tasks up to this task. */
  ends: number[];
  low_ends: number[];
  max_queued: number;
  max_running: number;
}

/** Numbers the tasks of each API key, and places them one behind the other. */
export function placed<Task extends NewTask>(tasks: Task[]): { rows: PlacedTask<Task>[]; keys: KeyRow[] } {
  const keys = new Map<string, KeyRow>();
  const rows = tasks.map((task) => {
    const key = keys.get(task.api_key_id) ?? keyRow(keys.size + 1, task);
    if (key.tasks === 0) keys.set(task.api_key_id, key);
    const nth = (key.tasks += 1);
    const cost = costOf(task.run_ms ?? UNKNOWN_RUN_MS, task.limits.weight);
    const [before, lowBefore] = [key.ends.at(-1) ?? 0, key.low_ends.at(-1) ?? 0];
    if (task.low) key.low_tasks += 1;
    key.ends.push(task.low ? before : before + cost);
    key.low_ends.push(task.low ? lowBefore + cost : lowBefore);
    return { ...task, key: key.key, nth, ahead: (task.low ? lowBefore : before) || undefined };
  });
  return { rows, keys: [...keys.values()] };
}

const keyRow = (key: number, { api_key_id, limits: { maxQueued, maxRunning } }: NewTask): KeyRow => ({
  key,
  api_key_id,
  tasks: 0,
  low_tasks: 0,
  ends: [],
  low_ends: [],
  max_queued: maxQueued,
  max_running: maxRunning,
});

/**
 * SQL fragment of a creation. $1 has the API keys of the new tasks, and $2 how long the statement may wait for a lock.
 * Computes for each key how many of its tasks the queue limit admits, and where its next task of each priority stands
 * in the line. Rows are locked in order, so two processes cannot deadlock. `lows` is bounded, because a process of an
 * earlier release ends tasks of low priority without counting them.
 *
 * The fragment comes first in a statement, because `pg_stat_activity` shows only the first 1,024 bytes. They must tell
 * for which row the statement waits.
 */
export const LOAD = `
    load as (
      select k.key, l.api_key_id, k.max_running, k.tasks, k.ends, k.low_ends,
             least(l.low, l.queued + l.running) as lows, ${STARTS},
             greatest(least(k.tasks, case when k.max_queued > 0 then k.max_queued - l.queued end,
                            case when l.shared_queued > 0 then l.shared_queued - l.queued - l.below_queued end), 0) as admitted
      from key_load l join json_to_recordset($1::json) as k(
        key int, api_key_id text, tasks int, ends bigint[], low_ends bigint[], max_queued int, max_running int
      ) using (api_key_id) cross join line n, ${setLockTimeout('$2')}
      where n.id
      order by l.api_key_id for update of l
    )`;

/**
 * SQL fragment: counts the inserted tasks. Needs the CTE `load`, and a CTE `made` that returns COUNTED_COLUMNS of each
 * task.
 */
export const COUNTED = `
    counted as (
      update key_load l set queued = l.queued + m.tasks, low = o.lows + m.lows, max_running = o.max_running,
             place = o.start + coalesce(o.ends[o.admitted], 0),
             low_place = o.low_start + coalesce(o.low_ends[o.admitted], 0)
      from load o join (
        select api_key_id, count(*) as tasks, count(*) filter (where low) as lows from made group by api_key_id
      ) m using (api_key_id)
      where l.api_key_id = o.api_key_id
    )`;
export const COUNTED_COLUMNS = 'api_key_id, low';

/**
 * Why a task was not inserted. `no_counters`: the row of its API key in `key_load` is gone, although this process has
 * created it.
 */
export type Refusal = 'known_key' | 'queue_full' | 'no_counters' | SpentBudget;

/** A task that a statement for creations has refused. */
export interface RefusalRow {
  id: string;
  refusal: Exclude<Refusal, SpentBudget> | 'budget_exceeded';
  /** Only with `budget_exceeded`. */
  budget?: SpentBudget | null;
}

export const refusalsOf = (rows: RefusalRow[]): Refusals =>
  new Map(rows.map(({ id, refusal, budget }) => [id, refusal === 'budget_exceeded' ? budget! : refusal]));

/** Refusals by task id. A task without a refusal was inserted. */
export type Refusals = Map<string, Refusal>;

const OPEN: Statement = {
  name: 'tasks.open_key_load',
  // Locks the keys: a change of their limits is either committed before and read here, or waits and then finds the row.
  text: `
    with own as (
      select id, limits from api_keys where id = any($1::text[]) order by id for share
    )
    insert into key_load (api_key_id, shared_running, shared_queued)
    select w.id, coalesce((own.limits->>'max_running')::int, 0), coalesce((own.limits->>'max_queued')::int, 0)
    from (select distinct unnest($1::text[]) collate "C" as id) w left join own using (id) order by 1 on conflict do nothing`,
};

/** The most API keys that a process remembers to have a row in `key_load`. A forgotten key costs another insert. */
const MAX_KEYS = 20_000;

/**
 * Creates the rows of API keys in `key_load`, in the order of the keys to avoid deadlocks. Raw SQL because every
 * creation needs it.
 */
@Injectable()
export class OpenKeyCounters {
  private readonly opened = new LRUCache<string, true>({
    maxSize: MAX_KEYS, // `max` would reserve 0.4 MB at once
    sizeCalculation: () => 1,
  });

  constructor(private readonly sql: Sql) {}

  /**
   * Ensures that the API keys of these tasks have a row in `key_load`. Creates the row once for each key that this
   * process does not remember.
   */
  async open(tasks: Pick<NewTask, 'api_key_id'>[]): Promise<void> {
    const unopened = tasks.map((task) => task.api_key_id).filter((id) => !this.opened.has(id));
    if (unopened.length === 0) return;
    await this.sql.run(OPEN, [unopened]);
    for (const id of unopened) this.opened.set(id, true);
  }

  /**
   * Call this when the API keys of these tasks turned out to have no row: a purge, a failover or a restore has removed
   * it.
   */
  forget(tasks: Pick<NewTask, 'api_key_id'>[]): void {
    for (const task of tasks) this.opened.delete(task.api_key_id);
  }
}

/**
 * Inserts tasks after creating the rows of their keys in `key_load`. If a row was removed in between, creates it once
 * more, and inserts the tasks of its key again.
 * @returns the refusals
 */
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

/** Does not throw, because other tasks have been inserted by now. After an error these tasks are refused. */
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

export function refusalError({ api_key_id, limits }: NewTask, refusal: Refusal): ApiError {
  if (typeof refusal === 'object') return new BudgetExceeded(api_key_id, refusal);
  if (refusal === 'no_counters') return new ApiError('service_unavailable', { retryAfterS: 1 });
  return new ApiError('queue_full', {
    message: `This API key has ${limits.maxQueued} queued tasks, which is its limit.`,
  });
}
