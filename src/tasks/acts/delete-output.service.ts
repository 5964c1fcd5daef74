import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { TaskCache } from '../queue/task-cache.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import { ReplaceResult } from '../sql/replace-result.ts';
import { PREVIEW_WIDTHS, previewKeyOf } from '../read/preview-key.ts';
import type { OutputFile } from '../read/task-files.ts';

/** Each round needs another output of the same task to be deleted meanwhile. */
const ROUNDS = 20;

/** Deletes the bytes of one output. The task stays, and shows no link for it. */
@Injectable()
export class DeleteOutput {
  constructor(
    private readonly cache: TaskCache,
    private readonly reads: ReadTasks,
    private readonly results: ReplaceResult,
    private readonly storage: Storage,
  ) {}

  /** Repeats harmlessly. The record first: a link to bytes that are gone would be an error of the service. */
  async delete({ task, output }: Pick<OutputFile, 'task' | 'output'>): Promise<void> {
    for (let round = 1; round <= ROUNDS; round++) {
      const current = await this.reads.find(task.id);
      if (!current?.result) throw new ApiError('file_not_found', { param: 'id' });
      const isDone = current.result[output.index]?.deleted === true;
      const result = current.result.map((each) => (each.index === output.index ? { ...each, deleted: true } : each));
      if (!isDone && !(await this.results.replace(current, result))) continue;
      this.cache.drop(task.id);
      await this.storage.delete(output.storage_key);
      for (const width of PREVIEW_WIDTHS) await this.storage.delete(previewKeyOf(task.id, output.index, width));
      if (output.thumbnail_key !== undefined) await this.storage.delete(output.thumbnail_key);
      return;
    }
    throw new ApiError('service_unavailable');
  }
}
