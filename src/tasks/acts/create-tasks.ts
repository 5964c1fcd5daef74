import { Injectable } from '@nestjs/common';
import type { ApiError } from '../../errors/api-error.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { KeyLoad, LOAD, queueFull, whenLocked } from './key-load.ts';
import { COLUMNS, INSERT, type NewTask, toRows } from './new-task.ts';

/**
 * Task and load of the key in one statement, thus one commit, for many requests at once. Only what was refused is answered.
 * Of its own beside that for idempotency keys, which takes PostgreSQL an eighth longer also where there are none.
 */
const CREATE: Statement = {
  name: 'tasks.create',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(${COLUMNS})
    ), ${LOAD}, counted as (
      update key_load l set queued = l.queued + o.admitted, max_running = o.max_running
      from load o where l.api_key_id = o.api_key_id
    ), made as (${INSERT}
      where place <= admitted
    )
    select id from wanted join load using (api_key_id) where place > admitted`,
};

/** Stores tasks that came without an idempotency key. */
@Injectable()
export class CreateTasks {
  // Taking all that wait, 64 clients fell into turns of 1 and 63, in which both sides waited for each other: 2 to 11 % fewer.
  private readonly batch = new Batch<NewTask, undefined>((tasks) => this.flush(tasks), {
    maxItems: 200,
    leavesHalf: true,
  });

  constructor(
    private readonly sql: Sql,
    private readonly load: KeyLoad,
  ) {}

  /** @throws ApiError queue_full, service_unavailable */
  create(task: NewTask): Promise<undefined> {
    return this.batch.add(task);
  }

  private async flush(tasks: NewTask[]): Promise<(ApiError | undefined)[]> {
    await this.load.open(tasks);
    const refused = await this.sql.run<{ id: string }>(CREATE, [toRows(tasks)]).catch((error: unknown) => {
      throw whenLocked(error, 'service_unavailable');
    });
    const ids = new Set(refused.map(({ id }) => id));
    return tasks.map((task) => (ids.has(task.id) ? queueFull(task) : undefined));
  }
}
