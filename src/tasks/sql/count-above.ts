import { ApiError } from '../../errors/api-error.ts';
import type { CallerBound } from '../../auth/access/caller.ts';
import type { Statement, Tx } from '../../platform/database/sql.ts';

/**
 * Counts new tasks of the key $1 for the keys above it, $3, if each has room. It locks the rows of all these keys at once,
 * in order, so that two keys below the same one cannot pass its bounds together, and no two statements wait for each
 * other.
 */
const COUNT_ABOVE: Statement = {
  name: 'tasks.count_above',
  text: `
    with above as (
      select * from unnest($3::text[], $4::int[]) as a(id, max_queued)
    ), load as (
      select api_key_id, queued + below_queued as tasks from key_load
      where api_key_id = any($3::text[] || $1::text) order by api_key_id for update
    ), full_keys as (
      select a.max_queued from load l join above a on a.id = l.api_key_id where a.max_queued > 0 and l.tasks + $2::int > a.max_queued
    ), counted as (
      update key_load l
      set below_queued = l.below_queued + case when a.id is null then 0 else $2::int end,
          above = case when a.id is null then $3::text[] else l.above end
      from load left join above a on a.id = load.api_key_id
      where l.api_key_id = load.api_key_id and not exists (select from full_keys)
    )
    select (select count(*) from load)::int as rows, (select min(max_queued) from full_keys) as full`,
};

/**
 * In the transaction that inserts the tasks, after them and before all else that locks rows of `key_load`.
 * @returns whether each of the keys has a row
 * @throws ApiError queue_full
 */
export async function countAbove(tx: Tx, apiKeyId: string, tasks: number, above: CallerBound[]): Promise<boolean> {
  const { rows } = await tx.query<{ rows: number; full: number | null }>({
    ...COUNT_ABOVE,
    values: [apiKeyId, tasks, above.map((bound) => bound.apiKeyId), above.map(({ limits }) => limits.maxQueued ?? 0)],
  });
  const [{ rows: found, full } = { rows: 0, full: null }] = rows;
  if (found <= above.length) return false;
  if (full === null) return true;
  throw new ApiError('queue_full', {
    message: `A key above this API key has no room for ${tasks} more queued ${tasks === 1 ? 'task' : 'tasks'}.`, // whose limit is not for this one
  });
}
