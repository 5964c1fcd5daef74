import { Injectable } from '@nestjs/common';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { Task } from '../record/task.entity.ts';

/** The columns from which the timeline of a task is made. */
export type TimelineRow = Pick<
  Task,
  'id' | 'api_key_id' | 'status' | 'attempt' | 'created_at' | 'started_at' | 'completed_at' | 'error' | 'timeline'
>;

const READ: Statement = {
  name: 'tasks.read_timelines',
  text: `
    select id, api_key_id, status, attempt, created_at, started_at, completed_at, error, timeline
    from tasks where id = any($1::text[]) and expires_at > now()`,
};

/** Raw SQL because timelines of many tasks, which one GraphQL document may ask for, are one statement. */
@Injectable()
export class ReadTimelines {
  private readonly batch = new Batch<string, TimelineRow | null>((ids) => this.flush(ids), { name: 'tasks.timelines' });

  constructor(private readonly sql: Sql) {}

  /** @returns null when there is no such task or its record has expired */
  find(id: string): Promise<TimelineRow | null> {
    return this.batch.add(id);
  }

  private async flush(ids: string[]): Promise<(TimelineRow | null)[]> {
    const rows = await this.sql.run<TimelineRow>(READ, [[...new Set(ids)]]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}
