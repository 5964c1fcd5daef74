import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { TaskCache } from '../queue/task-cache.ts';
import { DeleteTask } from '../sql/delete-task.ts';
import { TasksService } from './tasks.service.ts';

/** How long the request waits for the deletion of the files. The purge deletes files that are still left later. */
const FILES_MS = 5_000;

/** Deletes tasks on request. See docs/decisions/0027-a-deleted-task-is-an-expired-one.md. */
@Injectable()
export class DeleteTasks {
  private readonly logger = new Logger('tasks');

  constructor(
    private readonly tasks: TasksService,
    private readonly rows: DeleteTask,
    private readonly cache: TaskCache,
    private readonly storage: Storage,
  ) {}

  /**
   * If the task is unfinished, cancels it first, with the event of a cancel. Afterwards no request finds the task.
   * @throws ApiError task_not_found
   */
  async delete(apiKeyId: string, taskId: string): Promise<void> {
    const { task } = await this.tasks.cancel(apiKeyId, taskId);
    if (!(await this.rows.delete(apiKeyId, task.id))) throw new ApiError('task_not_found', { param: 'task_id' });
    this.cache.drop(task.id);
    await this.deleteFiles(task.id);
  }

  private async deleteFiles(taskId: string): Promise<void> {
    const over = new AbortController();
    const deleted = this.storage
      .deleteAll(`${taskId}/`)
      .catch((err: unknown) => this.logger.warn({ event: 'task.files_not_deleted', task_id: taskId, err }));
    await Promise.race([deleted, sleep(FILES_MS, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }
}
