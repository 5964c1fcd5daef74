/**
 * Planner tricks. PostgreSQL plans a prepared statement once per connection and keeps the plan; a plan made while the
 * tables were small, or without knowing the parameter values (a generic plan), can be slow for as long as the connection
 * lives. Each of these hides something from the planner, so that only the intended index fits.
 * test/api/hot-statements pins the resulting plans.
 */

/**
 * Hides a text column from the planner, so that no partial index on its value fits. For the status of a row found by its
 * id: a cached generic plan could otherwise scan the partial index of all queued rows, which is fast while that index is
 * small and slow at 100,000.
 */
export const hidden = (column: string): string => `(${column} || '')`;

/**
 * Hides a timestamp column from the planner. For the expiry of rows found by key: it is only a filter, and the index of
 * expired rows must not be chosen for it.
 */
export const hiddenTime = (column: string): string => `${column} + interval '0'`;

/**
 * Equality that keeps the column in the sort order. With `column = $1` the planner treats the column as constant, drops it
 * from `order by`, and may walk the primary key past other tenants' rows (60,000 of them: 99 ms instead of 0.2).
 */
export const equalsOrdered = (column: string, value: string): string => `${column} = any(array[${value}])`;

/**
 * Ends a subquery that must be planned separately from the outer `order by`. Planned as one, the order attracts the planner
 * to the primary key, which passes rows in every state (600,000 of them: 1,504 ms).
 */
export const PLANNED_SEPARATELY = 'offset 0';

/**
 * A table joined with wanted ids, each given once. For `id = any($1)` a generic plan of a partitioned table looks into
 * every partition; a join looks only into the one that can hold the id.
 * @param ids a parameter, such as `$1`
 */
export const byIds = (table: string, ids: string): string =>
  `unnest(${ids}::text[]) as wanted(id) join ${table} using (id)`;

/**
 * SQL: whether `t.id` is the id of a row of another relation. For statements that write tasks which other transactions write at the same
 * time. With `t.id = w.id` PostgreSQL picks the partition of each row while the statement runs. If it then waits for a row that another transaction
 * changes, PostgreSQL 18 (seen with 18.4) loses other rows of the statement, or its process crashes, which ends all connections: test/processes/faults/written-together.
 * It does not pick a partition by an array that is made from a column, and looks into the index of each. Add `within` where the ids are
 * known before: bounds that are parameters leave out partitions before the statement runs, which is safe.
 */
export const hasIdOf = (id: string): string => `t.id = any(string_to_array(${id}, ' '))`;

/** SQL: `t.id` lies within two parameters, the first of which has this number: those of `boundsOf`. */
export const within = (first: number): string => `t.id between $${first} and $${first + 1}`;

export function boundsOf(ids: string[]): [string | null, string | null] {
  const sorted = ids.toSorted();
  return [sorted[0] ?? null, sorted.at(-1) ?? null];
}

/**
 * Tasks `t`, locked in the order of their ids, with their rows `w` of the CTE `wanted`. Each is looked up by its id: while the table is
 * nearly empty, the planner may turn a plain join round and read the whole table, for as long as the plan is kept (with some thousand
 * tasks 4.7 ms of processor time for the ends of 13).
 * @param first number of the parameters for `within`
 * @param which SQL: the condition on `t` and `w`
 * @param columns those of `t` that are read afterwards: PostgreSQL sets up each of them in several places of the plan, for
 *   each partition
 */
export const lockedTasks = (first: number, which: string, columns = 't.id'): string =>
  `(select * from wanted order by id) w cross join lateral (
        select ${columns} from tasks t where ${hasIdOf('w.id')} and ${within(first)} and ${which} ${PLANNED_SEPARATELY} for update
      ) t`;
