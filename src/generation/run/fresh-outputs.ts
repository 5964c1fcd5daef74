import { Injectable } from '@nestjs/common';
import { free } from '../../platform/run/owned-bytes.ts';
import type { ProviderOutput } from '../../providers/contract/provider.ts';

/** The most bytes that all kept files may take together. Files that do not fit are read from the storage. */
const MAX_BYTES = 64 * 1024 * 1024;

interface Wanted {
  waiters: number;
  /** Files by storage key. */
  files: Map<string, Buffer>;
}

/**
 * Keeps stored files in memory while a request of this process waits for their task, so that the answer need not read
 * them from the storage. Some files are not kept, and the answer reads them from the storage: files from the temporary
 * folder (films), files that another process stored, and files for which there was no room.
 */
@Injectable()
export class FreshOutputs {
  private readonly wanted = new Map<string, Wanted>();
  private bytes = 0;

  /**
   * @returns a function to call once, when the files are no longer needed. The last of these calls for a task frees its
   *   files
   */
  want(taskId: string): () => void {
    const wanted = this.wanted.get(taskId) ?? { waiters: 0, files: new Map<string, Buffer>() };
    wanted.waiters += 1;
    this.wanted.set(taskId, wanted);
    return () => {
      wanted.waiters -= 1;
      if (wanted.waiters === 0) this.drop(taskId, wanted);
    };
  }

  /**
   * Takes over a stored file if a request waits for the task.
   * @returns false when the file stays with the caller
   */
  keep(taskId: string, storageKey: string, file: ProviderOutput): boolean {
    const wanted = this.wanted.get(taskId);
    if (!wanted || !Buffer.isBuffer(file) || this.bytes + memoryOf(file) > MAX_BYTES) return false;
    wanted.files.set(storageKey, file);
    this.bytes += memoryOf(file);
    return true;
  }

  /** The bytes of a kept file, or null. They are freed when the last request that waits for the task is done. */
  find(taskId: string, storageKey: string): Buffer | null {
    return this.wanted.get(taskId)?.files.get(storageKey) ?? null;
  }

  private drop(taskId: string, { files }: Wanted): void {
    this.wanted.delete(taskId);
    for (const file of files.values()) {
      this.bytes -= memoryOf(file);
      free(file);
    }
  }
}

/** A file may be part of a larger buffer, which stays in memory as a whole. */
const memoryOf = (file: Buffer): number => file.buffer.byteLength;
