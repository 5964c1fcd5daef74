import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/**
 * How long the record of a deleted task stays after the end of the task. Deleting an unfinished task cancels it. A late
 * stream or worker in another process must still find the cancel in the record. A late worker may also write a file,
 * which the purge then deletes with the record.
 */
export const SETTLED_AFTER = `interval '5 minutes'`;

/** Lets the record expire. No request in any process sees it then, and the purge deletes it with its files. */
const DELETE: Statement = {
  name: 'tasks.delete',
  text: `
    update tasks_done set expires_at = now(), purge_after = completed_at + ${SETTLED_AFTER}
    where id = $1 and api_key_id = $2 and expires_at > now()
    returning id`,
};

/** Raw SQL because the times are the database's and must be compared in the statement that writes. */
@Injectable()
export class DeleteTask {
  constructor(private readonly sql: Sql) {}

  /** @returns false when the API key has no such final task any more */
  async delete(apiKeyId: string, taskId: string): Promise<boolean> {
    return (await this.sql.run(DELETE, [taskId, apiKeyId])).length === 1;
  }
}
