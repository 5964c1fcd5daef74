import { equalsOrdered, inUtc } from '../../platform/database/planner.ts';
import { FREE_PLACES } from '../record/free-places.ts';
import type { Fact } from '../../platform/database/database-facts.ts';

/**
 * Totals of all API keys. If a key runs as many tasks as it may, all its queued tasks count as `parked`, even those
 * that no claim has parked yet.
 */
interface QueueRow {
  waiting: number;
  parked: number;
  running: number;
  keys: number;
  /** Seconds; null if no task waits. */
  oldest_waiting: number | null;
  oldest_parked: number | null;
}

/**
 * Reads the counters, and one entry of an index for each key with queued tasks. The backlog itself is never read. The
 * lowest id is that of the oldest task.
 */
export const QUEUE_FACT: Fact<QueueRow> = {
  name: 'queue',
  text: `
    with load as materialized (
      select api_key_id, queued, running, ${FREE_PLACES} = 0 as is_full
      from key_load l where queued > 0 or running > 0
    ), oldest as materialized (
      select l.is_full, t.id
      from load l cross join lateral (
        select id from tasks_live where ${equalsOrdered('api_key_id', 'l.api_key_id')} and attempt = 0 order by api_key_id, id limit 1) t
      where l.queued > 0
    )
    select coalesce(sum(queued) filter (where not is_full), 0)::float8 as waiting,
           coalesce(sum(queued) filter (where is_full), 0)::float8 as parked,
           coalesce(sum(running), 0)::float8 as running,
           (count(*) filter (where queued > 0))::float8 as keys,
           ${ageOfOldest('not is_full')} as oldest_waiting,
           ${ageOfOldest('is_full')} as oldest_parked
    from load`,
};

function ageOfOldest(condition: string): string {
  return `(select greatest(0, extract(epoch from now() - created_at))::float8 from tasks_live
           where id = (select min(id) from oldest where ${condition}))`;
}

interface ExpiredRow {
  /**
   * Seconds since the first expiry among the files that are still stored; 0 if none of them has expired, null if no
   * files are stored. `tasks` is the same for records.
   */
  files: number | null;
  tasks: number | null;
}

const overdue = (column: string, condition: string): string =>
  `(select greatest(0, extract(epoch from now() - ${column}))::float8 from tasks_done
    where ${condition} order by ${inUtc(column)} limit 1)`;

/** Reads only the first entry of each of two indexes. */
export const EXPIRED_FACT: Fact<ExpiredRow> = {
  name: 'expired_tasks',
  text: `
    select ${overdue('files_expire_at', 'not files_purged')} as files,
           ${overdue('expires_at', 'true')} as tasks`,
};
