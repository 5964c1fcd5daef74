import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Rows of one look. */
export const PURGE_ROWS = 200;

const WITH_EXPIRED_FILES: Statement = {
  name: 'tasks.with_expired_files',
  text: 'select id from tasks where not files_purged and files_expire_at < now() order by files_expire_at limit $1',
};

const FILES_GONE: Statement = {
  name: 'tasks.files_gone',
  text: 'update tasks set files_purged = true where id = any($1::text[])',
};

const EXPIRED: Statement = {
  name: 'tasks.expired',
  text: `select id from tasks where expires_at < now() and status in ('succeeded', 'failed') order by expires_at limit $1`,
};

const DELETE: Statement = { name: 'tasks.delete', text: 'delete from tasks where id = any($1::text[])' };

const FORGET_KEYS: Statement = {
  name: 'tasks.forget_idempotency_keys',
  text: `
    delete from idempotency_keys where (api_key_id, key) in (
      select api_key_id, key from idempotency_keys where expires_at < now() limit $1)`,
};

/** What retention has to find and to forget. Files are deleted between the look and the note that they are gone. */
@Injectable()
export class PurgeTasks {
  constructor(private readonly sql: Sql) {}

  async withExpiredFiles(): Promise<string[]> {
    return ids(await this.sql.run(WITH_EXPIRED_FILES, [PURGE_ROWS]));
  }

  async filesGone(taskIds: string[]): Promise<void> {
    await this.sql.run(FILES_GONE, [taskIds]);
  }

  async expired(): Promise<string[]> {
    return ids(await this.sql.run(EXPIRED, [PURGE_ROWS]));
  }

  async delete(taskIds: string[]): Promise<void> {
    await this.sql.run(DELETE, [taskIds]);
  }

  async forgetIdempotencyKeys(): Promise<void> {
    await this.sql.run(FORGET_KEYS, [PURGE_ROWS * 10]);
  }
}

const ids = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);
