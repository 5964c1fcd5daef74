import { escapeIdentifier } from 'pg';
import type { Sql } from '../sql.ts';

interface Drop {
  tables: string[];
  /** Of these tables. */
  partitions: string[];
  /** SQL: whether they must stay. Read when nothing can change it any more. */
  keeps: string;
  /** Of an advisory lock: one process drops at a time. */
  lock: number;
}

/** Of each table. Statements of the service wait behind this one for a lock. It is far below PostgreSQL's deadlock_timeout: in a deadlock this one gives up. */
const LOCK_TIMEOUT = `select set_config('lock_timeout', '50ms', true)`;
const LOCK_NOT_AVAILABLE = '55P03';

/** Still needed, or in use by another statement for too long: then try again soon. */
export type DropResult = 'dropped' | 'needed' | 'in_use';

/**
 * Drops partitions in one message, so that requests wait for changes of the catalogue and for no round trip. PostgreSQL removes the files
 * after it has released the locks. They are not detached concurrently: a table with a partition for the rest does not allow it.
 */
export async function dropPartitions(sql: Sql, { tables, partitions, keeps, lock }: Drop): Promise<DropResult> {
  const names = partitions.map(escapeIdentifier);
  const drop = `do $$ begin
    lock table only ${tables.join(', only ')} in access exclusive mode;
    if not (${keeps}) then drop table ${names.join(', ')}; end if;
  end $$`;
  try {
    return await sql.transaction(async (tx) => {
      const { rows } = await tx.query<{ is_free: boolean }>(
        'select pg_try_advisory_xact_lock($1::int) and to_regclass($2) is not null as is_free',
        [lock, names[0]],
      );
      if (!rows[0]!.is_free) return 'needed';
      await Promise.all([tx.query(LOCK_TIMEOUT), tx.query(drop)]);
      return (await tx.query('select where to_regclass($1) is null', [names[0]])).rowCount === 1 ? 'dropped' : 'needed';
    });
  } catch (error) {
    if (isInUse(error)) return 'in_use';
    throw error;
  }
}

/** Whether a statement gave up waiting for a lock. */
export const isInUse = (error: unknown): boolean => (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
