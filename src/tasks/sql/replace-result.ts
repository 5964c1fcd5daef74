import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SHOWN_COLUMNS, type ShownTask, type StoredOutput } from '../record/task.entity.ts';

/** A visible change of a final task, the only one: two outputs may be deleted at once, so it names the sequence it read. */
const REPLACE_RESULT: Statement = {
  name: 'tasks.replace_result',
  text: `
    update tasks_done set result = $3::json, sequence = sequence + 1
    where id = $1 and sequence = $2 and status = 'succeeded'
    returning ${SHOWN_COLUMNS}`,
};

@Injectable()
export class ReplaceResult {
  constructor(private readonly sql: Sql) {}

  /** @returns null when the task has changed since it was read */
  async replace({ id, sequence }: ShownTask, result: StoredOutput[]): Promise<ShownTask | null> {
    const rows = await this.sql.run<ShownTask>(REPLACE_RESULT, [id, sequence, JSON.stringify(result)]);
    return rows[0] ?? null;
  }
}
