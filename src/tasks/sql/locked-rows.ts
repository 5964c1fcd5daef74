import { equalsOrdered } from '../../platform/database/planner.ts';
import { setLockTimeout } from './batch-by-key.ts';

/**
 * SQL for every statement that writes several unfinished tasks. Other transactions may write the same tasks at the same
 * time. `locked` locks the rows in the order of their ids, whichever index is read, so that no two statements wait for
 * each other.
 */

/** SQL: the CTE `locked`. @param ids a parameter, such as `$1` */
export const locked = (ids: string): string =>
  `locked as (select id, attempt from tasks_live where id = any(${ids}::text[]) order by id for update)`;

/**
 * SQL: the CTE `locked` with a bound on waiting. `wait` is SQL of `setLockTimeout`; it is evaluated before the first
 * row is locked.
 */
export const lockedWithin = (ids: string, wait: string): string =>
  `locked as (
      select id, attempt from (select ${wait}) wait cross join tasks_live
      where id = any(${ids}::text[]) order by id for update of tasks_live
    )`;

/** SQL: the CTE `locked` for the tasks that meet a condition. */
export const lockedWhere = (condition: string): string =>
  `locked as (select id from tasks_live where ${condition} order by id for update)`;

/**
 * SQL: whether a row `t` has one of these ids. The rows are read by the primary key, however PostgreSQL joins.
 * @param ids SQL of a query for ids
 */
export const isOneOf = (ids: string): string => `t.id = any(array(${ids}))`;

/**
 * SQL: whether a row `t` is that of `wanted`, read by the primary key. Counting `locked` makes PostgreSQL lock all rows
 * before it writes the first.
 */
export const isLocked = (wanted = 'w'): string =>
  `(select count(*) from locked) > 0 and ${equalsOrdered('t.id', `${wanted}.id`)}`;

/**
 * SQL, always true: from here on the statement gives up after it has waited for a row for 20 ms. It must not wait
 * longer, because it locks rows in the order of the line and not of their ids. `skip locked` does not prevent every
 * wait: if a row changes while PostgreSQL looks at it, PostgreSQL goes on to the next version and waits for the
 * transaction that has locked it. `Sql.run` repeats a statement that has given up.
 */
export const GIVES_UP = `(select ${setLockTimeout(`'20ms'`)}) is not null`;
