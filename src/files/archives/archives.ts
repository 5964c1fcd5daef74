import type { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { listedFile } from '../content/listed-file.ts';
import type { ArchiveView } from './archive.view.ts';
import { type ArchiveFile, ArchiveFiles } from './archive-files.ts';
import { OpenArchives } from './open-archives.ts';
import { type Zip, zipOf } from './zip.ts';

/** The maximum total size of the files in one archive, in bytes. */
const MAX_BYTES = 10 * 2 ** 30;

/** Archives have no record: their signed link names the files. */
@Injectable()
export class Archives {
  private readonly logger = new Logger('files');

  constructor(
    private readonly files: ArchiveFiles,
    private readonly links: FileLinks,
    private readonly storage: Storage,
    private readonly open: OpenArchives,
  ) {}

  /** @throws ApiError file_not_found, file_expired, upload_incomplete, value_out_of_range */
  async create(apiKeyId: string, ids: string[]): Promise<ArchiveView> {
    const files: ArchiveFile[] = [];
    for (const [index, id] of ids.entries()) {
      files.push(await listedFile(index, () => this.files.find(apiKeyId, id, index)));
    }
    const bytes = files.reduce((sum, { content }) => sum + content.bytes, 0);
    if (bytes > MAX_BYTES) {
      const message = `These files have ${bytes} bytes. An archive has at most ${MAX_BYTES}.`;
      throw new ApiError('value_out_of_range', { param: 'file_ids', message });
    }
    const { url, expiresAt } = this.links.signArchive(ids);
    return { object: 'archive', url, expires_at: expiresAt, bytes: this.zip(files).bytes };
  }

  /**
   * Leaves out files that were deleted or have expired since the link was made.
   * @throws ApiError file_expired when no file is left
   */
  async describe(ids: string[]): Promise<Zip> {
    return this.zip(await this.present(ids));
  }

  /**
   * The archive counts as open until its stream closes.
   * @throws ApiError as `describe`, rate_limit_exceeded, service_unavailable
   */
  async read(ids: string[]): Promise<{ bytes: number; stream: Readable }> {
    const files = await this.present(ids);
    const release = this.open.take(files[0]!.content.apiKeyId);
    const { bytes, read } = this.zip(files);
    const stream = read().once('close', release);
    stream.once('error', (err) => this.logger.warn({ event: 'archive.failed', err }));
    return { bytes, stream };
  }

  private zip(files: ArchiveFile[]): Zip {
    return zipOf(files, (key) => this.storage.open(key));
  }

  private async present(ids: string[]): Promise<ArchiveFile[]> {
    const files = await this.files.present(ids);
    if (files.length === 0) throw new ApiError('file_expired');
    return files;
  }
}
