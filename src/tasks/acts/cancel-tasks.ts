import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { TaskQueue } from '../queue/task-queue.ts';
import { ListUnfinished } from '../sql/list-unfinished.ts';
import { taskError } from '../record/task-error.ts';
import { TasksService } from './tasks.service.ts';
import type { CancelSelection } from './cancel-selection.ts';
import type { CancelOutcome, TaskCancelView } from './task-cancel.view.ts';

/** The most tasks that a filter selects in one request. */
const MAX_SELECTED = 1_000;

/**
 * Cancels many tasks. Each is cancelled as by a request of its own, with its own event. The queue batches the writes.
 */
@Injectable()
export class CancelTasks {
  constructor(
    private readonly tasks: TasksService,
    private readonly queue: TaskQueue,
    private readonly unfinished: ListUnfinished,
  ) {}

  /**
   * Selects the tasks of a filter once, before it cancels the first, so it does not cancel a task that is created
   * meanwhile. After a failure half-way the call can be repeated, because cancelled tasks stay cancelled.
   * @returns the outcomes in the order of the ids; for a filter, oldest task first
   * @throws ApiError service_unavailable
   */
  async cancel(apiKeyId: string, selection: CancelSelection): Promise<TaskCancelView[]> {
    if ('ids' in selection) return this.all(selection.ids, (id) => this.cancelOne(apiKeyId, id));
    const ids = await this.unfinished.ids(apiKeyId, selection.filter, MAX_SELECTED);
    return this.all(ids, (id) => this.end(apiKeyId, id));
  }

  /** Throws only when all cancels have settled, so that no task is cancelled after the response. */
  private async all(ids: string[], cancel: (id: string) => Promise<CancelOutcome>): Promise<TaskCancelView[]> {
    const cancels = await Promise.allSettled(ids.map(async (id) => ({ task_id: id, outcome: await cancel(id) })));
    return cancels.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
  }

  private async cancelOne(apiKeyId: string, taskId: string): Promise<CancelOutcome> {
    try {
      const { cancelled } = await this.tasks.cancel(apiKeyId, taskId);
      return cancelled ? 'cancelled' : 'already_final';
    } catch (error) {
      if (error instanceof ApiError && error.code === 'task_not_found') return 'not_found';
      throw error;
    }
  }

  /** @param taskId the id of a task of this key; whose task it is, is not checked here */
  private async end(apiKeyId: string, taskId: string): Promise<CancelOutcome> {
    const outcome = { status: 'failed', error: taskError('task_cancelled') } as const;
    const ended = await this.queue.end({ api_key_id: apiKeyId, id: taskId, attempt: null, outcome });
    return ended ? 'cancelled' : 'already_final';
  }
}
