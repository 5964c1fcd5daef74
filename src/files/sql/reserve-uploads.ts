import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { Upload } from '../record/upload.entity.ts';

/**
 * Finds the uploads that a new task names, and keeps their bytes for as long as the task may be unfinished. One
 * statement does both, because between a find and a reservation the purge could delete the bytes. A file of another key
 * is found only through a signed link. Otherwise a key that knows an id could keep the bytes of another key.
 */
const RESERVE: Statement = {
  name: 'files.reserve_uploads',
  text: `
    with named as (
      select id from uploads
      where id = any($1::text[]) and deleted_at is null and (api_key_id = $3 or id = any($4::text[]))
      order by id for update
    )
    update uploads u set needed_until = greatest(u.needed_until, now() + make_interval(secs => $2))
    from named where u.id = named.id
    returning u.*, u.expires_at <= now() as is_expired`,
};

/** Assigns the files of a request to the task that the request has created, and sets when the files expire. */
const ATTACH: Statement = {
  name: 'files.tie_to_task',
  text: `
    update uploads set task_id = $2, expires_at = to_timestamp($3::float8 / 1000)
    where id = any($1::text[]) and of_task and task_id is null`,
};

/** Deletes files that came inside a request for which no task was created. */
const FORGET: Statement = {
  name: 'files.forget_untied',
  text: `update uploads set deleted_at = now(), needed_until = null where id = any($1::text[]) and of_task and task_id is null`,
};

export type ReservedUpload = Upload & { is_expired: boolean };

@Injectable()
export class ReserveUploads {
  constructor(private readonly sql: Sql) {}

  /**
   * @param linked the ids that a signed link permits, also for files of other keys
   * @returns the uploads that exist and that the key may use
   */
  reserve(apiKeyId: string, ids: string[], seconds: number, linked: string[] = []): Promise<ReservedUpload[]> {
    return this.sql.run<ReservedUpload>(RESERVE, [ids, seconds, apiKeyId, linked]);
  }

  /** @param expiresMs when the files expire, unix milliseconds */
  async attach(ids: string[], taskId: string, expiresMs: number): Promise<void> {
    await this.sql.run(ATTACH, [ids, taskId, expiresMs]);
  }

  async forget(ids: string[]): Promise<void> {
    await this.sql.run(FORGET, [ids]);
  }
}
