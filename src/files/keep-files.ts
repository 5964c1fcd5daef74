import { Injectable } from '@nestjs/common';
import type { Actor } from '../auth/audit/actor.ts';
import { ApiError } from '../errors/api-error.ts';
import { type Kept, KeepTasks } from '../tasks/acts/keep-tasks.ts';
import { parseFileId } from '../tasks/record/task-id.ts';
import { FileViews } from './file-views.ts';
import type { FileView } from './record/file.view.ts';

/**
 * Keeps outputs of tasks, so that they do not expire. Uploads cannot be kept: whoever uploads a file says how long it
 * stays.
 */
@Injectable()
export class KeepFiles {
  constructor(
    private readonly tasks: KeepTasks,
    private readonly views: FileViews,
  ) {}

  /** @throws ApiError file_not_found, invalid_value, file_expired, kept_quota_exceeded */
  async keep(actor: Actor, id: string, collection: string | null): Promise<FileView> {
    await this.tasks.keep(actor, await this.outputOf(actor, id), collection);
    return this.views.find(actor.caller!.apiKeyId, id);
  }

  /** @throws ApiError file_not_found, invalid_value */
  async giveUp(actor: Actor, id: string): Promise<FileView> {
    await this.tasks.giveUp(actor, await this.outputOf(actor, id));
    return this.views.find(actor.caller!.apiKeyId, id);
  }

  private async outputOf({ caller }: Actor, id: string): Promise<Kept> {
    const { purpose } = await this.views.find(caller!.apiKeyId, id);
    const output = parseFileId(id);
    if (purpose !== 'output' || !output) {
      throw new ApiError('invalid_value', { param: 'id', message: 'Only an output of a task can be kept.' });
    }
    return { taskId: output.taskId, output: output.index };
  }
}
