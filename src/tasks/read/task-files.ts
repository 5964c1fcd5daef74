import { Injectable } from '@nestjs/common';
import { parseFileId } from '../record/task-id.ts';
import type { ShownTask, StoredOutput } from '../record/task.entity.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import { endOf, isPresent } from './task.view.ts';
import { CachedTasks } from '../queue/task-cache.ts';

/** An output of a task, as a file. */
export interface OutputFile {
  apiKeyId: string;
  task: ShownTask;
  output: StoredOutput;
  /** When the bytes expire. */
  expiresAt: Date;
  /** Whether the bytes are still there: neither expired nor deleted. */
  isPresent: boolean;
}

/** Finds files of tasks by their public id. */
@Injectable()
export class TaskFiles {
  constructor(
    private readonly tasks: CachedTasks,
    private readonly reads: ReadTasks,
  ) {}

  /** Whether the task has a record that its owner can read. */
  async hasTask(taskId: string): Promise<boolean> {
    return (await this.tasks.find(taskId)) !== null;
  }

  /** @returns null when no task has such an output, or the record of the task has expired */
  async find(fileId: string): Promise<OutputFile | null> {
    const parsed = parseFileId(fileId);
    return parsed && fileIn(await this.tasks.find(parsed.taskId), parsed.index, fileId);
  }

  /**
   * Reads the output from the database, because another process may have deleted it some seconds ago.
   * @returns null in the same cases as `find`
   */
  async findAgain({ task, output }: OutputFile): Promise<OutputFile | null> {
    return fileIn(await this.reads.find(task.id), output.index, output.id);
  }
}

function fileIn(task: ShownTask | null, index: number, fileId: string): OutputFile | null {
  const output = task?.result?.[index];
  if (!output || output.id !== fileId || !task.files_expire_at) return null;
  return {
    apiKeyId: task.api_key_id,
    task,
    output,
    expiresAt: new Date(endOf(task, output) * 1000),
    isPresent: isPresent(task, output),
  };
}
