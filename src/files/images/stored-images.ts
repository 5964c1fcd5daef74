import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { exactly } from '../../platform/storage/exactly.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { TaskFiles } from '../../tasks/read/task-files.ts';
import { isUploadId } from '../record/file-id.ts';
import { FilesService } from '../uploads/files.service.ts';

/** An image of a task that is a file of this service. */
export interface StoredImage {
  /** The key in storage. */
  key: string;
  bytes: number;
}

/**
 * Reads the images of a task that are files of this service. The creation of the task has checked that the task may use
 * them.
 */
@Injectable()
export class StoredImages {
  constructor(
    private readonly files: FilesService,
    private readonly outputs: TaskFiles,
    private readonly links: FileLinks,
    private readonly storage: Storage,
  ) {}

  /** The id of the file that a field names; null for a URL that is no link of this service or has a wrong signature. */
  fileIdIn(value: string): string | null {
    if (value.startsWith('file_')) return value;
    const link = this.links.parse(value);
    // Verifies the link as of time 0, because the link may have expired since the task was created.
    return link && this.links.verify(link.fileId, link.expires, link.signature, 0) ? link.fileId : null;
  }

  /**
   * Also finds deleted and expired uploads, whose bytes stay while a task needs them.
   * @returns null when there are no bytes
   */
  async find(fileId: string): Promise<StoredImage | null> {
    if (isUploadId(fileId)) {
      const [upload] = await this.files.findAny([fileId]);
      return upload?.blob_id ? { key: upload.blob_id, bytes: upload.bytes } : null;
    }
    const file = await this.outputs.find(fileId);
    return file?.isPresent ? { key: file.output.storage_key, bytes: file.output.size_bytes } : null;
  }

  /** @throws StoredFileMissing */
  async save({ key, bytes }: StoredImage, path: string, signal: AbortSignal): Promise<void> {
    await pipeline(exactly(await this.storage.open(key), bytes), createWriteStream(path), { signal });
  }
}
