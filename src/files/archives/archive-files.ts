import { Injectable } from '@nestjs/common';
import type { OutputFile } from '../../tasks/read/task-files.ts';
import { type FileContent, FileContents, hasContent } from '../content/file-contents.ts';
import { ApiError } from '../../errors/api-error.ts';
import { filenameOf } from '../record/file.view.ts';
import { TaskFiles } from '../../tasks/read/task-files.ts';
import type { Upload } from '../record/upload.entity.ts';
import { FilesService } from '../uploads/files.service.ts';
import { entryName } from './entry-name.ts';

export interface ArchiveFile {
  /** The name of the entry in the zip. */
  name: string;
  content: FileContent;
  modifiedAt: Date;
}

@Injectable()
export class ArchiveFiles {
  constructor(
    private readonly files: FilesService,
    private readonly contents: FileContents,
    private readonly outputs: TaskFiles,
  ) {}

  /**
   * @param index the position of the file in the archive, from 0
   * @throws ApiError file_not_found, also for a file of another key; file_expired, upload_incomplete
   */
  async find(apiKeyId: string, id: string, index: number): Promise<ArchiveFile> {
    const file = await this.files.find(apiKeyId, id);
    const content = await this.contents.find(id);
    if (!content) throw new ApiError('file_expired');
    if (!hasContent(content)) throw new ApiError(content.reason === 'pending' ? 'upload_incomplete' : 'file_expired');
    return archiveFile(file, content, index);
  }

  /**
   * Needs no API key, because a signed link permits these files.
   * @returns the files whose bytes are still there, with the names that they had when the link was made
   */
  async present(ids: string[]): Promise<ArchiveFile[]> {
    const found: ArchiveFile[] = [];
    for (const [index, id] of ids.entries()) {
      const content = await this.contents.find(id); // one after the other: other requests need connections too
      if (!content || !hasContent(content)) continue;
      const file = (await this.outputs.find(id)) ?? (await this.files.findAny([id]))[0];
      if (file) found.push(archiveFile(file, content, index));
    }
    return found;
  }
}

function archiveFile(file: Upload | OutputFile, content: FileContent, index: number): ArchiveFile {
  const isOutput = 'output' in file;
  const prompt = isOutput ? file.task.input['prompt'] : null;
  const title = isOutput
    ? typeof prompt === 'string'
      ? prompt
      : file.task.model
    : file.filename.replace(/\.\w+$/, '');
  return {
    name: entryName(index, title, filenameOf('', content.contentType)),
    content,
    modifiedAt: isOutput ? file.task.completed_at! : file.created_at,
  };
}
