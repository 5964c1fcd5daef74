import { Injectable } from '@nestjs/common';
import type { Actor } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { TaskCache } from '../queue/task-cache.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import { setStars } from '../sql/kept-tasks.ts';
import { ReplaceResult } from '../sql/replace-result.ts';
import { PREVIEW_WIDTHS, previewKeyOf } from '../read/preview-key.ts';
import type { OutputFile } from '../read/task-files.ts';
import { giveUpOutputs, type Stars } from '../record/stars.ts';
import type { ShownTask, StoredOutput } from '../record/task.entity.ts';
import { recordStars, starsOf } from './record-stars.ts';

/** The most attempts to change the task. An attempt fails only if the task has changed since it was read. */
const ROUNDS = 20;

/** Deletes the bytes of one output. The task stays, and shows no link for this output. */
@Injectable()
export class DeleteOutput {
  constructor(
    private readonly audit: AuditLog,
    private readonly cache: TaskCache,
    private readonly reads: ReadTasks,
    private readonly results: ReplaceResult,
    private readonly storage: Storage,
  ) {}

  /**
   * Changes the record before it deletes the bytes, so that no client gets a link to bytes that are gone. May be
   * repeated.
   * @throws ApiError file_not_found; service_unavailable if the task changes again and again
   */
  async delete(actor: Actor, { task, output }: Pick<OutputFile, 'task' | 'output'>): Promise<void> {
    for (let round = 1; round <= ROUNDS; round++) {
      const current = await this.reads.find(task.id);
      if (!current?.result) throw new ApiError('file_not_found', { param: 'id' });
      const isDone = current.result[output.index]?.deleted === true;
      if (!isDone && !(await this.replace(actor, current, starsWithout(current, output.index)))) continue;
      this.cache.drop(task.id);
      await deleteBytes(this.storage, task.id, output);
      return;
    }
    throw new ApiError('service_unavailable');
  }

  /**
   * If the task has a star, the audit records the change in the same transaction.
   * @returns null when the task has changed meanwhile
   */
  private replace(actor: Actor, task: ShownTask, stars: Stars): Promise<ShownTask | null> {
    if (task.kept_at === null) return this.results.replace(task, stars);
    return this.audit.transaction(actor, async (tx, record) => {
      const changed = await setStars(tx, task, stars);
      if (changed) await recordStars(record, task, stars);
      return changed;
    });
  }
}

/** The stars of the task once the output is deleted. A task without another kept output loses its star. */
function starsWithout(task: ShownTask, index: number): Stars {
  const left = giveUpOutputs(starsOf(task), index, 0);
  return { ...left, result: left.result!.map((each) => (each.index === index ? { ...each, deleted: true } : each)) };
}

/** Deletes the bytes of an output, of its previews and of its thumbnail. */
export async function deleteBytes(storage: Storage, taskId: string, output: StoredOutput): Promise<void> {
  await storage.delete(output.storage_key);
  for (const width of PREVIEW_WIDTHS) await storage.delete(previewKeyOf(taskId, output.index, width));
  if (output.thumbnail_key !== undefined) await storage.delete(output.thumbnail_key);
}
