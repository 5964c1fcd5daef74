import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { TaskFiles } from '../../tasks/read/task-files.ts';
import { isUploadId } from '../record/file-id.ts';
import { isReadable } from '../record/file.view.ts';
import { Upload } from '../record/upload.entity.ts';

/** Where the bytes of a file are in storage, and the facts about them. */
export interface FileContent {
  apiKeyId: string;
  storageKey: string;
  contentType: string;
  bytes: number;
  /** Hex. */
  sha256: string;
  /** Until this time it is an error if the storage lacks the file. */
  expiresAt: Date;
}

/** Why a file has no bytes to read. */
export interface NoContent {
  apiKeyId: string;
  reason: 'pending' | 'gone';
}

export const hasContent = (found: FileContent | NoContent): found is FileContent => 'storageKey' in found;

/** Finds the bytes of files of all keys, because a signed link permits the file of any key. */
@Injectable()
export class FileContents {
  constructor(
    @InjectRepository(Upload) private readonly uploads: Repository<Upload>,
    private readonly outputs: TaskFiles,
  ) {}

  /** @returns null when there is no such file, or when it is an upload that was deleted */
  async find(id: string): Promise<FileContent | NoContent | null> {
    return isUploadId(id) ? this.findUpload(id) : this.findOutput(id);
  }

  private async findUpload(id: string): Promise<FileContent | NoContent | null> {
    const upload = await this.uploads.findOneBy({ id });
    if (!upload || upload.deleted_at !== null) return null;
    if (upload.task_id !== null && !(await this.outputs.hasTask(upload.task_id))) return null; // deleted with its task
    const { api_key_id: apiKeyId, status, blob_id, sha256, expires_at } = upload;
    if (!isReadable(upload)) {
      const isPending = status === 'pending' && expires_at.getTime() > Date.now();
      return { apiKeyId, reason: isPending ? 'pending' : 'gone' };
    }
    return {
      apiKeyId,
      storageKey: blob_id!,
      contentType: upload.content_type,
      bytes: upload.bytes,
      sha256: sha256!,
      expiresAt: expires_at,
    };
  }

  private async findOutput(id: string): Promise<FileContent | NoContent | null> {
    const file = await this.outputs.find(id);
    if (!file) return null;
    const { apiKeyId, output, expiresAt } = file;
    if (!file.isPresent) return { apiKeyId, reason: 'gone' };
    return {
      apiKeyId,
      storageKey: output.storage_key,
      contentType: output.content_type,
      bytes: output.size_bytes,
      sha256: output.sha256,
      expiresAt,
    };
  }
}
