/**
 * PostgreSQL plans a prepared statement once per connection and keeps the plan. A plan made while the tables were
 * small, or without the parameter values (a generic plan), can be slow as long as the connection lives. Each helper in
 * this file hides something from the planner, so that only the intended index fits. test/api/hot-statements checks the
 * resulting plans.
 */

/**
 * Hides a text column from the planner, so that no partial index on its value fits. For the status of a row that is
 * found by its id: otherwise a cached generic plan could scan the partial index of all queued rows. Such a scan is fast
 * while the index is small, and slow at 100,000 rows.
 */
export const hidden = (column: string): string => `(${column} || '')`;

/**
 * Hides a timestamp column from the planner. For the expiry of rows that are found by key: in such a query the expiry
 * is only a filter, and the planner must not choose the index of expired rows.
 */
export const hiddenTime = (column: string): string => `${column} + interval '0'`;

/**
 * Equality that keeps the column in the sort order. With `column = $1` the planner treats the column as constant and
 * drops it from `order by`. Then it may walk the primary key past other tenants' rows (60,000 rows: 99 ms instead of
 * 0.2).
 */
export const equalsOrdered = (column: string, value: string): string => `${column} = any(array[${value}])`;

/**
 * Ends a subquery that must be planned separately from the outer `order by`. Otherwise the planner may choose the
 * primary key for that order, and read rows in every state (600,000 rows took 1,504 ms).
 */
export const PLANNED_SEPARATELY = 'offset 0';

/**
 * SQL: a time of expiry in the form that its index has. Only statements that look for expired rows use this form,
 * because other statements must not choose that index.
 */
export const inUtc = (time: string): string => `(${time} at time zone 'UTC')`;
