import { Injectable } from '@nestjs/common';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { LeaseRef } from '../record/lease.ts';
import { SHOWN_OF_LIVE, type ShownTask } from '../record/task.entity.ts';
import { isLocked, locked } from './locked-rows.ts';

interface Progress extends LeaseRef {
  /** Percent. */
  progress: number;
}

const RECORD: Statement = {
  name: 'tasks.record_progress',
  text: `
    with wanted as (
      select * from unnest($1::text[], $2::int[], $3::int[]) as w(id, attempt, progress)
    ), ${locked('$1')}
    update tasks_live t set progress = w.progress, sequence = t.sequence + 1 from wanted w
    where ${isLocked()} and t.attempt = w.attempt and t.progress < w.progress
    returning ${SHOWN_OF_LIVE}`,
};

/**
 * Progress only rises, and only the claim that holds the task may write it. Callers throttle to 4 writes per second and
 * task. Raw SQL because the writes of all running tasks are batched into one statement.
 */
@Injectable()
export class RecordProgress {
  private readonly batch = new Batch<Progress, ShownTask | null>((items) => this.flush(items), {
    name: 'tasks.progress',
  });

  constructor(private readonly sql: Sql) {}

  /** @returns null when the lease is lost or the recorded progress is as high already */
  record(progress: Progress): Promise<ShownTask | null> {
    return this.batch.add(progress);
  }

  private async flush(items: Progress[]): Promise<(ShownTask | null)[]> {
    const newest = new Map(items.map((item) => [item.id, item]));
    const rows = [...newest.values()];
    const tasks = await this.sql.run<ShownTask>(RECORD, [
      rows.map(({ id }) => id),
      rows.map(({ attempt }) => attempt),
      rows.map(({ progress }) => progress),
    ]);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    return items.map(({ id }) => byId.get(id) ?? null);
  }
}
