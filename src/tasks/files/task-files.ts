import { Injectable } from '@nestjs/common';
import { parseFileId } from '../task-id.ts';
import { filesPresent } from '../task.view.ts';
import { TasksService } from '../tasks.service.ts';

/** A file of a task: its place in storage and its metadata. */
export interface StoredFile {
  storageKey: string;
  contentType: string;
  sizeBytes: number;
  /** Hex. */
  sha256: string;
  /** Until then its absence from storage is an error. */
  expiresAt: Date;
}

/** Finds files of tasks by their public id. */
@Injectable()
export class TaskFiles {
  constructor(private readonly tasks: TasksService) {}

  /** @returns null when there is no such file or its retention has ended */
  async find(fileId: string): Promise<StoredFile | null> {
    const parsed = parseFileId(fileId);
    const task = parsed && (await this.tasks.read(parsed.taskId));
    if (!parsed || !task?.files_expire_at || !filesPresent(task)) return null;
    const output = task.result?.[parsed.index];
    if (!output) return null;
    return {
      storageKey: output.storage_key,
      contentType: output.content_type,
      sizeBytes: output.size_bytes,
      sha256: output.sha256,
      expiresAt: task.files_expire_at,
    };
  }
}
