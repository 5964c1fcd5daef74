import { Injectable } from '@nestjs/common';
import { parseFileId } from '../task-id.ts';
import { filesPresent } from '../task.view.ts';
import { TasksService } from '../tasks.service.ts';

/** Where a file's bytes are, and what they are. */
export interface StoredFile {
  storageKey: string;
  contentType: string;
  sizeBytes: number;
  /** Hex. */
  sha256: string;
}

/** Finds the files of tasks by their public id. */
@Injectable()
export class TaskFiles {
  constructor(private readonly tasks: TasksService) {}

  /** null when there is no such file, or its retention has ended. */
  async find(fileId: string): Promise<StoredFile | null> {
    const place = parseFileId(fileId);
    const task = place && (await this.tasks.read(place.taskId));
    if (!task || !filesPresent(task)) return null;
    const output = task.result?.[place.index];
    if (!output) return null;
    return {
      storageKey: output.storage_key,
      contentType: output.content_type,
      sizeBytes: output.size_bytes,
      sha256: output.sha256,
    };
  }
}
