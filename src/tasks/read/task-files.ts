import { Injectable } from '@nestjs/common';
import { parseFileId } from '../record/task-id.ts';
import type { ShownTask, StoredOutput } from '../record/task.entity.ts';
import { isPresent } from './task.view.ts';
import { CachedTasks } from './cached-tasks.ts';

/** An output of a task, as a file. */
export interface OutputFile {
  apiKeyId: string;
  task: ShownTask;
  output: StoredOutput;
  /** The bytes are there until then. */
  expiresAt: Date;
  /** Whether the bytes are still there: neither expired nor deleted. */
  isPresent: boolean;
}

/** Finds files of tasks by their public id. */
@Injectable()
export class TaskFiles {
  constructor(private readonly tasks: CachedTasks) {}

  /** Whether the task has a record that its owner can read. */
  async hasTask(taskId: string): Promise<boolean> {
    return (await this.tasks.find(taskId)) !== null;
  }

  /** @returns null when no task has such an output, or the record of the task has expired */
  async find(fileId: string): Promise<OutputFile | null> {
    const parsed = parseFileId(fileId);
    const task = parsed && (await this.tasks.find(parsed.taskId));
    const output = parsed && task?.result?.[parsed.index];
    if (!output || output.id !== fileId || !task.files_expire_at) return null;
    return {
      apiKeyId: task.api_key_id,
      task,
      output,
      expiresAt: task.files_expire_at,
      isPresent: isPresent(task, output),
    };
  }
}
