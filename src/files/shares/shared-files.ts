import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { OutputFile } from '../../tasks/read/task-files.ts';
import { type FileContent, FileContents, hasContent } from '../content/file-contents.ts';
import { FilesService } from '../uploads/files.service.ts';

/** The types that a browser shows by itself and that cannot contain a script. */
const SHOWN = /^(image|video)\/(?:png|jpeg|webp|mp4|webm)$/;

/** A picture or film of a share, whose bytes are there. */
export interface SharedFile {
  kind: 'image' | 'video';
  content: FileContent;
  /** Pixels. */
  width: number;
  height: number;
  /** null for an upload. */
  output: OutputFile | null;
}

@Injectable()
export class SharedFiles {
  constructor(
    private readonly files: FilesService,
    private readonly contents: FileContents,
  ) {}

  /** @throws ApiError file_not_found, also for a file of another key; file_expired, upload_incomplete, invalid_value */
  async find(apiKeyId: string, id: string): Promise<SharedFile> {
    const file = await this.files.find(apiKeyId, id);
    const content = await this.contents.find(id);
    if (!content) throw new ApiError('file_expired');
    if (!hasContent(content)) throw new ApiError(content.reason === 'pending' ? 'upload_incomplete' : 'file_expired');
    const kind = SHOWN.exec(content.contentType)?.[1] as SharedFile['kind'] | undefined;
    const output = 'output' in file ? file : null;
    const { width, height } = 'output' in file ? file.output : file;
    if (!kind || width === null || height === null) {
      throw new ApiError('invalid_value', { message: 'Only pictures and films can be shared.' });
    }
    return { kind, content, width, height, output };
  }
}
