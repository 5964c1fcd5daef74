import { Injectable } from '@nestjs/common';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { Task } from '../record/task.entity.ts';

/** What an estimate of the start and end of a task needs. */
export interface TaskPlace extends Pick<
  Task,
  'id' | 'api_key_id' | 'model' | 'status' | 'low' | 'parked' | 'started_at' | 'input'
> {
  /** The column `place`. In spite of its type it is null if the task has ended. */
  place: number;
  /** Whether the task waits for its API key, its provider or the end of a pause. */
  is_held: boolean;
  /**
   * Whether the task waits for the end of a pause: before its start a pause of its model, later a pause of its
   * provider.
   */
  is_paused: boolean;
}

const READ: Statement = {
  name: 'tasks.read_places',
  text: `
    select id, api_key_id, model, status, place::float8, low, parked, started_at,
           json_build_object('resolution', input->'resolution', 'n', input->'n', 'duration', input->'duration') as input,
           coalesce(timeline->-1->>1 = 'held', false) as is_held,
           (parked and paused_by is not null or timeline->-1->>1 = 'held' and timeline->-1->>4 = 'pause') is true as is_paused
    from tasks where id = any($1::text[]) and expires_at > now()`,
};

/** Raw SQL because estimates of many tasks, which one GraphQL document may ask for, are one statement. */
@Injectable()
export class ReadPlaces {
  private readonly batch = new Batch<string, TaskPlace | null>((ids) => this.flush(ids), { name: 'tasks.places' });

  constructor(private readonly sql: Sql) {}

  /** @returns null when there is no such task or its record has expired */
  find(id: string): Promise<TaskPlace | null> {
    return this.batch.add(id);
  }

  private async flush(ids: string[]): Promise<(TaskPlace | null)[]> {
    const rows = await this.sql.run<TaskPlace>(READ, [[...new Set(ids)]]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}
