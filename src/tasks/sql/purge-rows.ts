import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Tasks of one round. */
export const PURGE_TASKS = 500;
/** Idempotency keys of one round. */
export const PURGE_KEYS = 5_000;

/** A task whose files could not be deleted is tried again after this time, as is one whose worker died on the way. */
const RETRY_AFTER = `interval '5 minutes'`;

const take = (name: string, due: string, time: string): Statement => ({
  name,
  text: `
    with due as (
      select id from tasks
      where ${due} and ${time} < now() and (purge_after is null or purge_after < now())
      order by ${time} limit ${PURGE_TASKS} for update skip locked
    )
    update tasks t set purge_after = now() + ${RETRY_AFTER} from due where t.id = due.id
    returning t.id, t.files_purged`,
});

const TAKE_WITH_FILES = take(
  'tasks.take_expired_files',
  'files_expire_at is not null and not files_purged',
  'files_expire_at',
);
const TAKE_EXPIRED = take('tasks.take_expired', `status in ('succeeded', 'failed')`, 'expires_at');

const FILES_PURGED: Statement = {
  name: 'tasks.files_purged',
  text: `update tasks set files_purged = true, purge_after = null where id = any($1::text[])`,
};

const DELETE: Statement = {
  name: 'tasks.delete_expired',
  text: `delete from tasks where id = any($1::text[])`,
};

const DELETE_KEYS: Statement = {
  name: 'tasks.delete_expired_idempotency_keys',
  text: `
    with due as (
      select api_key_id, key from idempotency_keys where expires_at < now() limit ${PURGE_KEYS} for update skip locked
    )
    delete from idempotency_keys k using due where k.api_key_id = due.api_key_id and k.key = due.key returning 1`,
};

const OVERDUE: Statement = {
  name: 'tasks.purge_overdue',
  text: `
    select coalesce(greatest(0, extract(epoch from now() - least(
      (select files_expire_at from tasks
       where files_expire_at is not null and not files_purged order by files_expire_at limit 1),
      (select expires_at from tasks where status in ('succeeded', 'failed') order by expires_at limit 1)
    ))), 0)::float8 as seconds`,
};

export interface ExpiredTask {
  id: string;
  files_purged: boolean;
}

/** Raw SQL because of `skip locked`: several workers purge at once, each its own rows. */
@Injectable()
export class PurgeRows {
  constructor(private readonly sql: Sql) {}

  /** Reserves tasks whose files have expired. */
  takeWithFiles(): Promise<ExpiredTask[]> {
    return this.sql.run(TAKE_WITH_FILES);
  }

  /** Reserves tasks whose record has expired. */
  takeExpired(): Promise<ExpiredTask[]> {
    return this.sql.run(TAKE_EXPIRED);
  }

  async filesPurged(ids: string[]): Promise<void> {
    await this.sql.run(FILES_PURGED, [ids]);
  }

  async delete(ids: string[]): Promise<void> {
    await this.sql.run(DELETE, [ids]);
  }

  /** @returns how many were deleted */
  async deleteIdempotencyKeys(): Promise<number> {
    return (await this.sql.run(DELETE_KEYS)).length;
  }

  /** Seconds since the oldest file or record that is still there has expired. */
  async overdueS(): Promise<number> {
    const [row] = await this.sql.run<{ seconds: number }>(OVERDUE);
    return row?.seconds ?? 0;
  }
}
