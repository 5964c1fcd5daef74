import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import type { ErasureWork } from '../../auth/erasure/erasure-work.ts';
import { deleteEach } from '../../platform/storage/delete-each.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { TaskCache } from '../queue/task-cache.ts';
import { TaskQueue } from '../queue/task-queue.ts';
import { EraseTaskRows, type TaskToErase } from '../sql/erase-tasks.ts';
import { taskError } from '../record/task-error.ts';

/**
 * Erases the tasks of an API key with their files, and the idempotency keys of this API key. Unfinished tasks are
 * cancelled. Once no worker can write another file of a task, its files are deleted, and then its record. So no file is
 * left without a record.
 */
@Injectable()
export class EraseTasks implements OnModuleInit {
  constructor(
    private readonly steps: ErasureSteps,
    private readonly rows: EraseTaskRows,
    private readonly queue: TaskQueue,
    private readonly cache: TaskCache,
    private readonly storage: Storage,
  ) {}

  onModuleInit(): void {
    this.steps.register('tasks', (work) => this.erase(work));
  }

  private async erase(work: ErasureWork): Promise<'done' | 'waits'> {
    await work.repeat((tx) => this.rows.deleteIdempotencyKeys(tx, work.apiKeyId));
    let waits = false;
    for (let last = ''; ;) {
      const tasks = await this.rows.read(work.apiKeyId, last);
      if (tasks.length === 0) return waits ? 'waits' : 'done';
      last = tasks.at(-1)!.id;
      waits = (await this.eraseSome(work, tasks)) || waits;
    }
  }

  /** @returns whether some tasks cannot be deleted yet */
  private async eraseSome(work: ErasureWork, tasks: TaskToErase[]): Promise<boolean> {
    await Promise.all(tasks.filter((task) => task.is_unfinished).map(({ id }) => this.cancel(work.apiKeyId, id)));
    for (const id of await this.rows.hide(tasks.map((task) => task.id))) this.cache.drop(id);
    const settled = tasks.filter((task) => task.is_settled);
    await this.deleteFilesOf(settled.filter((task) => !task.files_purged));
    const files = settled.reduce((sum, task) => sum + task.files, 0);
    const ids = settled.map(({ id }) => id);
    await work.commit(async (tx) => {
      const deleted = ids.length > 0 ? await this.rows.delete(tx, work.apiKeyId, ids) : 0;
      return { erased: { tasks: deleted, files: deleted > 0 ? files : 0 } };
    });
    return settled.length < tasks.length;
  }

  private async cancel(apiKeyId: string, id: string): Promise<void> {
    const error = taskError('task_cancelled', { message: 'The task was cancelled because its API key is erased.' });
    await this.queue.end({ id, api_key_id: apiKeyId, attempt: null, outcome: { status: 'failed', error } });
  }

  private async deleteFilesOf(tasks: TaskToErase[]): Promise<void> {
    await deleteEach(tasks, ({ id }) => this.storage.deleteAll(`${id}/`));
  }
}

/** The Nest providers of the erasure of tasks. */
export const ERASURE = [EraseTaskRows, EraseTasks];
