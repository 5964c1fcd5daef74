import { Injectable } from '@nestjs/common';
import { buffer } from 'node:stream/consumers';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { exactly } from '../../platform/storage/exactly.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { isReadable } from '../record/file.view.ts';
import { FilesService } from './files.service.ts';
import { DirectUploads } from './direct-uploads.ts';
import type { Upload } from '../record/upload.entity.ts';

/** Reads the uploads of purpose `batch`. */
@Injectable()
export class BatchFiles {
  constructor(
    private readonly files: FilesService,
    private readonly direct: DirectUploads,
    private readonly storage: Storage,
  ) {}

  /**
   * Reads the bytes, at most 20 MB. Completes a pending file first.
   * @param param the field that names the file
   * @throws ApiError file_not_found, file_expired, invalid_file, upload_incomplete, file_quota_exceeded
   */
  async read(caller: Caller, id: string, param: string): Promise<Buffer> {
    try {
      const upload = await this.usable(caller, await this.files.findUpload(caller.apiKeyId, id));
      return await buffer(exactly(await this.storage.open(upload.blob_id!), upload.bytes));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message } = error;
      const status = code === 'upload_incomplete' ? error.status : 400;
      throw new ApiError(code, { param, message, status, cause: error });
    }
  }

  private async usable(caller: Caller, found: Upload): Promise<Upload> {
    if (found.purpose !== 'batch') {
      throw new ApiError('invalid_file', { message: 'Upload the file with the purpose "batch".' });
    }
    const upload = found.status === 'pending' ? await this.direct.complete(caller, found.id) : found;
    if (!isReadable(upload)) throw new ApiError('file_expired');
    return upload;
  }
}
