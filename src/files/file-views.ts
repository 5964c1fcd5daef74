import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { ApiError } from '../errors/api-error.ts';
import { unixSeconds } from '../platform/schema/time.ts';
import { FileLinks } from '../tasks/read/file-links.ts';
import { type FileView, NOT_KEPT, toFileView } from './record/file.view.ts';
import { FilesService } from './uploads/files.service.ts';
import { type GeneratedFile, GeneratedFiles } from './content/generated-files.ts';

/** Describes any file of an API key: an upload, an output, or a file that is made while it is read. */
@Injectable()
export class FileViews {
  constructor(
    private readonly files: FilesService,
    private readonly generated: GeneratedFiles,
    private readonly links: FileLinks,
  ) {}

  /** @throws ApiError file_not_found, also for a file of another key */
  async find(apiKeyId: string, id: string): Promise<FileView> {
    const findGenerated = this.generated.sourceOf(id);
    if (!findGenerated) return toFileView(await this.files.find(apiKeyId, id), this.links);
    const file = await findGenerated(apiKeyId, id);
    if (!file) throw new ApiError('file_not_found', { param: 'id' });
    return ofGenerated(id, file, await countBytes(file.open()));
  }
}

/**
 * The file is made at each read, and contains links that differ at each read, so it has no hash. It has no signed link
 * either.
 */
const ofGenerated = (id: string, file: GeneratedFile, bytes: number): FileView => ({
  id,
  object: 'file',
  bytes,
  created_at: unixSeconds(file.createdAt),
  expires_at: unixSeconds(file.expiresAt),
  filename: file.filename,
  purpose: file.purpose,
  status: 'processed',
  content_type: file.contentType,
  sha256: null,
  url: null,
  url_expires_at: null,
  ...NOT_KEPT,
});

/** No length is stored, so this reads the whole file, as a download does. */
async function countBytes(content: Readable): Promise<number> {
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<string | Buffer>) bytes += Buffer.byteLength(chunk);
  return bytes;
}
