/**
 * Planner tricks. PostgreSQL plans a prepared statement once per connection and keeps the plan; a plan made while the
 * tables were small, or without knowing the parameter values (a generic plan), can be slow for as long as the connection
 * lives. Each of these hides something from the planner, so that only the intended index fits.
 * test/api/hot-statements pins the resulting plans.
 */

/**
 * Hides a text column from the planner, so that no partial index on its value fits. For the status of a row found by
 * its id: a cached generic plan could otherwise scan the partial index of all queued rows, which is fast while that
 * index is small and slow at 100,000.
 */
export const hidden = (column: string): string => `(${column} || '')`;

/**
 * Hides a timestamp column from the planner. For the expiry of rows found by key: it is only a filter, and the index of
 * expired rows must not be chosen for it.
 */
export const hiddenTime = (column: string): string => `${column} + interval '0'`;

/**
 * Equality that keeps the column in the sort order. With `column = $1` the planner treats the column as constant, drops
 * it from `order by`, and may walk the primary key past other tenants' rows (60,000 of them: 99 ms instead of 0.2).
 */
export const equalsOrdered = (column: string, value: string): string => `${column} = any(array[${value}])`;

/**
 * Ends a subquery that must be planned separately from the outer `order by`. Planned as one, the order attracts the
 * planner to the primary key, which passes rows in every state (600,000 of them: 1,504 ms).
 */
export const PLANNED_SEPARATELY = 'offset 0';

/**
 * SQL: a time of expiry as its index has it. Only statements that look for expired rows use this form, because the
 * others must not choose that index.
 */
export const inUtc = (time: string): string => `(${time} at time zone 'UTC')`;
