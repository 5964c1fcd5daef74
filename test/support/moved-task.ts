import { MOVED } from '../../src/tasks/sql/moved-columns.ts';

const OF_CREATION = MOVED.replace(/, submitted_at, upstream_id|, timeline/g, '');

/** Ends a task as a process does that dies before it can say so. $1 its id, $2 the error. */
export const END_TASK = `
  with gone as (delete from tasks_live where id = $1 returning *)
  insert into tasks_done (${MOVED}, status, sequence, completed_at, error)
  select ${MOVED}, 'failed', sequence + 1, now(), $2::json from gone`;

/** Makes a final task one whose worker is lost before it submits. $1 its id, $2 its timeline. */
export const LOSE_WORKER = `
  with gone as (delete from tasks_done where id = $1 returning *)
  insert into tasks_live (${OF_CREATION}, status, sequence, waits, lease_until, timeline)
  select ${OF_CREATION}, 'running', sequence, false, now() - interval '1 second', $2::jsonb from gone`;
