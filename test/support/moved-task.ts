import { MOVED } from '../../src/tasks/sql/moved-columns.ts';

const OF_CREATION = MOVED.replace(/, submitted_at, upstream_id|, timeline/g, '');

/** Ends a task, like a process that dies before it can announce that. $1: the task's id, $2: the error. */
export const END_TASK = `
  with gone as (delete from tasks_live where id = $1 returning *)
  insert into tasks_done (${MOVED}, status, sequence, completed_at, error)
  select ${MOVED}, 'failed', sequence + 1, now(), $2::json from gone`;

/**
 * Turns a final task into a running one whose worker was lost before it submitted the task. $1: the task's id, $2: its
 * timeline.
 */
export const LOSE_WORKER = `
  with gone as (delete from tasks_done where id = $1 returning *)
  insert into tasks_live (${OF_CREATION}, status, sequence, waits, lease_until, timeline)
  select ${OF_CREATION}, 'running', sequence, false, now() - interval '1 second', $2::jsonb from gone`;
