import { Injectable } from '@nestjs/common';
import { Batch } from '../../platform/database/batch.ts';
import { boundsOf, hasIdOf, hidden, lockedTasks, within } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { LeaseRef } from '../record/lease.ts';
import type { Task } from '../record/task.entity.ts';

interface Progress extends LeaseRef {
  /** Percent. */
  progress: number;
}

const RECORD: Statement = {
  name: 'tasks.record_progress',
  text: `
    with wanted as (
      select * from unnest($1::text[], $2::int[], $3::int[]) as w(id, attempt, progress)
    ), held as (
      select t.id, w.progress
      from ${lockedTasks(4, `t.attempt = w.attempt and ${hidden('t.status')} = 'running' and t.progress < w.progress`)}
    )
    update tasks t set progress = held.progress, sequence = t.sequence + 1 from held
    where ${hasIdOf('held.id')} and ${within(4)}
    returning t.*`,
};

/**
 * Progress only rises, and only the claim that holds the task may write it. Callers throttle to 4 writes per second and
 * task. Raw SQL because the writes of all running tasks are batched into one statement.
 */
@Injectable()
export class RecordProgress {
  private readonly batch = new Batch<Progress, Task | null>((items) => this.flush(items), { name: 'tasks.progress' });

  constructor(private readonly sql: Sql) {}

  /** @returns null when the lease is lost or the recorded progress is as high already */
  record(progress: Progress): Promise<Task | null> {
    return this.batch.add(progress);
  }

  private async flush(items: Progress[]): Promise<(Task | null)[]> {
    const newest = new Map(items.map((item) => [item.id, item]));
    const rows = [...newest.values()];
    const ids = rows.map(({ id }) => id);
    const tasks = await this.sql.run<Task>(RECORD, [
      ids,
      rows.map(({ attempt }) => attempt),
      rows.map(({ progress }) => progress),
      ...boundsOf(ids),
    ]);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    return items.map(({ id }) => byId.get(id) ?? null);
  }
}
