import type { Statement, Tx } from '../../platform/database/sql.ts';
import type { ShownTask } from '../record/task.entity.ts';
import type { TaskStatus } from '../record/task-status.ts';

/** An ended task, as far as the counters of its API key need it. */
export type CountedEnd = Pick<ShownTask, 'api_key_id' | 'low'> & {
  /** The status that it had before. */
  was: TaskStatus;
};

/** Rows are locked in order, so two processes cannot deadlock. $1 API keys, then the ends of each. */
const COUNT: Statement = {
  name: 'tasks.count_ended',
  text: `
    with wanted as (
      select * from unnest($1::text[], $2::int[], $3::int[], $4::int[]) as w(id, queued, running, lows)
    ), held as (
      select w.* from (select * from wanted order by id) w cross join lateral (
        select from key_load l where l.api_key_id = w.id offset 0 for update) l
    )
    update key_load l set queued = l.queued - h.queued, running = l.running - h.running, low = greatest(l.low - h.lows, 0)
    from held h where l.api_key_id = h.id returning l.api_key_id, l.max_running`,
};

/**
 * Call in the transaction that has ended the tasks, after all that locks other rows.
 * @returns the API keys with a limit of running tasks: other tasks of theirs may wait for the places
 */
export async function countEnded(tx: Tx, ended: CountedEnd[]): Promise<Set<string>> {
  if (ended.length === 0) return new Set();
  const keys = [...Map.groupBy(ended, (task) => task.api_key_id)];
  const countsOf = (which: (task: CountedEnd) => boolean) => keys.map(([, tasks]) => tasks.filter(which).length);
  const values = [
    keys.map(([id]) => id),
    countsOf(({ was }) => was === 'queued'),
    countsOf(({ was }) => was === 'running'),
    countsOf(({ low }) => low),
  ];
  const { rows } = await tx.query<{ api_key_id: string; max_running: number }>({ ...COUNT, values });
  return new Set(rows.flatMap(({ api_key_id, max_running }) => (max_running > 0 ? [api_key_id] : [])));
}
