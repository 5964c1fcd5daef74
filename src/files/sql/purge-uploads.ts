import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { deleteBlobs } from './request-files.ts';

/** The maximum number of rows of one statement. */
export const PURGE_UPLOADS = 500;

/**
 * Bytes whose use began within this time stay. A new upload may have begun to use them while their last upload was
 * being purged.
 */
const SETTLED = `interval '10 minutes'`;
/** Bytes that a worker has taken but not deleted may be taken again after this time, for example if the worker died. */
const RETRY_AFTER = `interval '5 minutes'`;

const isFree = '(needed_until is null or needed_until < now())';

/**
 * Releases the bytes of expired uploads. The rows stay for a while, so that a use of the file fails with `file_expired`
 * and not with `file_not_found`.
 */
const EXPIRE: Statement = {
  name: 'files.expire_uploads',
  text: `
    with due as (
      select id, blob_id from uploads
      where expires_at < now() and blob_id is not null and deleted_at is null and ${isFree}
      order by expires_at limit ${PURGE_UPLOADS} for update skip locked
    ), expired as (
      update uploads u set blob_id = null from due where u.id = due.id
    ), released as (
      update upload_blobs b set released_at = now() from (select distinct blob_id from due) d where b.id = d.blob_id
    )
    select id from due`,
};

const remove = (name: string, due: string): Statement => ({
  name,
  text: `
    with due as (
      select id, blob_id from uploads u where ${due} and ${isFree} limit ${PURGE_UPLOADS} for update skip locked
    ), gone as (
      delete from uploads u using due where u.id = due.id
    ), released as (
      update upload_blobs b set released_at = now() from (select distinct blob_id from due) d where b.id = d.blob_id
    )
    select id from due`,
});

const REMOVE_DELETED = remove('files.remove_deleted', 'deleted_at is not null');
/** `$1`: seconds for which an expired upload is remembered. */
const REMOVE_EXPIRED = remove(
  'files.remove_expired',
  'expires_at < now() - make_interval(secs => $1) and blob_id is null',
);
/**
 * Deletes files that came inside a request, once their task is deleted, has expired or has lost its files, and no task
 * needs them.
 */
const REMOVE_OF_TASKS = remove(
  'files.remove_of_tasks',
  `task_id is not null
   and not exists (select from tasks t where t.id = u.task_id and not t.files_purged and t.expires_at > now())`,
);

/**
 * A transaction that set `released_at` this long ago has committed. So `files.doom_released` sees that its uploads are
 * gone.
 */
const COMMITTED = `interval '1 minute'`;

const isReleased = `released_at < now() - ${COMMITTED} and used_at < now() - ${SETTLED}`;

/**
 * Checks bytes that an upload has released. Marks them for deletion if no upload uses them, else only clears
 * `released_at`. If another transaction has written the row since this statement began, PostgreSQL compares
 * `released_at` and `used_at` again. Only these times show a new use: what that transaction did to `uploads` is not in
 * the snapshot.
 */
const DOOM: Statement = {
  name: 'files.doom_released',
  text: `
    update upload_blobs b
    set released_at = null,
        doomed_at = case when exists (select from uploads u where u.blob_id = b.id) then null else now() end
    where id in (
        select id from upload_blobs
        where ${isReleased} and doomed_at is null
        limit ${PURGE_UPLOADS} for update skip locked
      ) and ${isReleased}
    returning id`,
};

const TAKE_DOOMED: Statement = {
  name: 'files.take_doomed',
  text: `
    with due as (
      select id from upload_blobs
      where doomed_at < now() and (purge_after is null or purge_after < now())
        and not exists (select from uploads u where u.blob_id = upload_blobs.id)
      order by doomed_at limit ${PURGE_UPLOADS} for update skip locked
    )
    update upload_blobs b set purge_after = now() + ${RETRY_AFTER} from due where b.id = due.id
    returning b.id`,
};

const DELETE_BLOBS: Statement = {
  name: 'files.delete_blobs',
  text: deleteBlobs('id = any($1::text[]) and doomed_at < now()'),
};

/** Raw SQL because of `skip locked`: concurrent workers purge different rows. */
@Injectable()
export class PurgeUploads {
  constructor(private readonly sql: Sql) {}

  /**
   * @param rememberS how long an expired upload is remembered, seconds
   * @returns how many uploads have lost their bytes or their row
   */
  async uploads(rememberS: number): Promise<number> {
    const rounds = [
      await this.sql.run(EXPIRE),
      await this.sql.run(REMOVE_DELETED),
      await this.sql.run(REMOVE_OF_TASKS),
      await this.sql.run(REMOVE_EXPIRED, [rememberS]),
    ];
    return rounds.reduce((sum, rows) => sum + rows.length, 0);
  }

  /** @returns how many released blobs were checked */
  async doomReleased(): Promise<number> {
    return (await this.sql.run(DOOM)).length;
  }

  /** Reserves bytes to delete. @returns their keys in storage */
  async takeDoomed(): Promise<string[]> {
    return (await this.sql.run<{ id: string }>(TAKE_DOOMED)).map(({ id }) => id);
  }

  async deleted(keys: string[]): Promise<void> {
    await this.sql.run(DELETE_BLOBS, [keys]);
  }
}
