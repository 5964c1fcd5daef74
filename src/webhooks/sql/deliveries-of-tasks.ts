import { Injectable } from '@nestjs/common';
import { BatchPerKey } from '../../platform/database/batch-per-key.ts';
import { PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { ListedDelivery } from './list-deliveries.ts';

/** The maximum number of attempts that are shown of one task. */
export const MAX_OF_TASK = 100;

export interface TaskOfKey {
  apiKeyId: string;
  taskId: string;
}

const OF_TASKS: Statement = {
  name: 'webhooks.list_of_tasks',
  text: `
    select d.*, t.at::int from unnest($1::text[], $2::text[]) with ordinality as t(api_key_id, task_id, at)
     cross join lateral (
       select d.*, v.task_id from webhook_events v
        cross join lateral (select * from webhook_deliveries where event_id = v.id ${PLANNED_SEPARATELY}) d
        where v.task_id = t.task_id and v.api_key_id = t.api_key_id order by d.id desc limit ${MAX_OF_TASK}) d
     order by t.at, d.id desc`,
};

/** Raw SQL because one GraphQL document may ask for the attempts of many tasks, and one statement reads them. */
@Injectable()
export class DeliveriesOfTasks {
  private readonly batches = new BatchPerKey<TaskOfKey, ListedDelivery[]>((tasks) => this.flush(tasks), {
    name: 'webhooks.list_of_tasks',
    maxItems: 100,
  });

  constructor(private readonly sql: Sql) {}

  /** The attempts to send the events of one task of the key, newest first. */
  find(task: TaskOfKey): Promise<ListedDelivery[]> {
    return this.batches.add(task.apiKeyId, task);
  }

  private async flush(tasks: TaskOfKey[]): Promise<ListedDelivery[][]> {
    const rows = await this.sql.run<ListedDelivery & { at: number }>(OF_TASKS, [
      tasks.map(({ apiKeyId }) => apiKeyId),
      tasks.map(({ taskId }) => taskId),
    ]);
    const byTask = Map.groupBy(rows, ({ at }) => at);
    return tasks.map((_, index) => byTask.get(index + 1) ?? []);
  }
}
