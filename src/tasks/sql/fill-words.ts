import { Injectable } from '@nestjs/common';
import { Sql, type Tx } from '../../platform/database/sql.ts';
import { EXTENSIONS, TaskWordsIndex, WORDS_INDEX } from './task-words.ts';

/**
 * A round copies at least FEWEST_TASKS and at most MOST_TASKS, if there are as many. The words of 10,000 short prompts
 * take a second, the words of 10,000 long prompts take minutes.
 */
const FEWEST_TASKS = 100;
const MOST_TASKS = 10_000;
/** The longest time from `completed_at`, which is the beginning of the transaction that ends a task, to its commit. */
const SETTLED = `interval '60 seconds'`;
/** A round looks at the ends of FEWEST_HOURS to MOST_HOURS hours. Both numbers are powers of two. */
const FEWEST_HOURS = 1;
const MOST_HOURS = 8_192;

/**
 * The advisory lock by which only one process fills the table. The number ("word" in ASCII) is arbitrary; no other lock
 * of this database uses it.
 */
const LOCK = 0x776f7264;

const MISSING = 'select name from unnest($1::text[]) as name where name not in (select extname from pg_extension)';
const HAS_INDEX = `select from pg_class where oid = to_regclass('${WORDS_INDEX}')`;

/**
 * Empties the table first, because its rows would slow down the build of the index by minutes. Later rounds fill the
 * table again.
 */
const MAKE_INDEX = `
  truncate task_words;
  update words_state set through = coalesce((select min(completed_at) from tasks_done), now()) - interval '1 ms';
  create index ${WORDS_INDEX} on task_words using gin (api_key_id, prompt gin_trgm_ops) with (gin_pending_list_limit = 65536)`;

/**
 * The time up to which this round copies: the `completed_at` of its last task if it has as many tasks as it may, or
 * else the end of its hours. It is text, because a Date has no microseconds.
 */
const UNTIL = `
  select (case when count(*) = $2 then max(completed_at) else max(until) end)::text as until, count(*)::int as tasks from (
    select greatest(through, least(now() - ${SETTLED}, through + make_interval(hours => $1))) as until, through from words_state) s
  left join lateral (
    select completed_at from tasks_done where completed_at > s.through and completed_at <= s.until
    order by completed_at limit $2) d on true`;

/**
 * Copies at most $2 tasks, because thousands may have ended in one statement, with the same `completed_at`. If a task is
 * purged meanwhile, the foreign key makes the round fail. The next try does not find the task.
 */
const FILL = `
  insert into task_words (id, api_key_id, prompt)
  select id, api_key_id, input->>'prompt' from tasks_done d, words_state
  where completed_at > through and completed_at <= $1::timestamptz and input->>'prompt' is not null
    and not exists (select from task_words w where w.id = d.id)
  limit $2
  on conflict (id) do nothing`;

const MERGE = `select gin_clean_pending_list('${WORDS_INDEX}')`;

/**
 * Copies the prompts of ended tasks to the table with the index, many in one statement. One by one, each copy would
 * cost as much as the end of its task.
 */
@Injectable()
export class FillWords {
  private hours = FEWEST_HOURS;
  private tasks = MOST_TASKS;

  constructor(
    private readonly sql: Sql,
    private readonly index: TaskWordsIndex,
  ) {}

  /**
   * Runs one round. Fails if an extension is missing and the role may not make it.
   * @returns whether more may be left
   */
  async fill(): Promise<boolean> {
    const isMine = await this.sql.transaction((tx) => this.prepare(tx));
    if (!isMine) return false;
    const mayBeMore = await this.sql
      .transaction((tx) => this.round(tx))
      .catch((error: unknown) => {
        // Long prompts may take longer than a statement may.
        this.tasks = Math.max(FEWEST_TASKS, Math.floor(this.tasks / 2));
        throw error;
      });
    await this.sql.transaction((tx) => tx.query(MERGE));
    return mayBeMore;
  }

  /** @returns false if another process is filling the table */
  private async prepare(tx: Tx): Promise<boolean> {
    if (!(await lock(tx))) return false;
    if ((await tx.query(HAS_INDEX)).rowCount === 1) return true;
    const { rows } = await tx.query<{ name: string }>(MISSING, [EXTENSIONS]);
    for (const { name } of rows) await tx.query(`create extension if not exists ${name}`);
    await tx.query(MAKE_INDEX);
    this.index.forget();
    return true;
  }

  private async round(tx: Tx): Promise<boolean> {
    if (!(await lock(tx))) return false;
    const most = this.tasks;
    const { rows } = await tx.query<{ until: string; tasks: number }>(UNTIL, [this.hours, most]);
    const { until, tasks } = rows[0]!;
    const { rowCount } = await tx.query(FILL, [until, most]);
    const isWhole = rowCount !== most;
    if (isWhole) await tx.query('update words_state set through = $1::timestamptz', [until]);
    this.hours = tasks === most ? Math.max(FEWEST_HOURS, this.hours / 2) : Math.min(2 * this.hours, MOST_HOURS);
    this.tasks = Math.min(2 * most, MOST_TASKS);
    return tasks === most || !isWhole;
  }
}

async function lock(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ is_mine: boolean }>('select pg_try_advisory_xact_lock($1::int) as is_mine', [LOCK]);
  return rows[0]!.is_mine;
}
