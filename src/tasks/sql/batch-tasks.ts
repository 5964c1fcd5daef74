import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SHOWN_COLUMNS, type ShownTask } from '../record/task.entity.ts';

/**
 * Queued tasks first, because a cancel ends the tasks in this order. If running tasks ended first, queued ones would
 * start in their place and be cancelled a moment later.
 */
const UNFINISHED: Statement = {
  name: 'tasks.unfinished_of_batch',
  text: `
    select id, api_key_id from tasks_live where batch_id = $1
    order by status, batch_index`,
};

const FINAL: Statement = {
  name: 'tasks.final_of_batch',
  text: `
    select ${SHOWN_COLUMNS} from tasks_done where batch_id = $1 and batch_index > $2 and expires_at > now()
    order by batch_index limit $3`,
};

/** Raw SQL because each statement is shaped for an index of batches. */
@Injectable()
export class BatchTasks {
  constructor(private readonly sql: Sql) {}

  unfinished(batchId: string): Promise<{ id: string; api_key_id: string }[]> {
    return this.sql.run(UNFINISHED, [batchId]);
  }

  /** Final tasks in the order of the batch. */
  finalTasks(batchId: string, after: number, limit: number): Promise<ShownTask[]> {
    return this.sql.run<ShownTask>(FINAL, [batchId, after, limit]);
  }
}
