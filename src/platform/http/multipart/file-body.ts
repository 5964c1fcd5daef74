import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { ApiError } from '../../../errors/api-error.ts';
import type { UploadLimits } from '../limits.ts';
import { type ScratchFile, writeScratchFile } from './scratch-file.ts';
import { Upload } from './upload.ts';
import type { UploadRoom } from './upload-room.ts';
import { bodyOf } from '../request.ts';

/** A body that is one file, of any content type. The handler reads it to disk. */
export class FileBody {
  constructor(
    private readonly raw: IncomingMessage,
    /** The type as the client sent it. */
    readonly contentType: string,
    private readonly limits: UploadLimits,
    private readonly room: UploadRoom,
  ) {}

  /** The announced size; null without `Content-Length`, as with `Transfer-Encoding: chunked`. */
  get announcedBytes(): number | null {
    const length = this.raw.headers['content-length'];
    return length === undefined ? null : Number(length);
  }

  /**
   * Reads the file to disk.
   * @param owner the API key that uploads
   * @returns the file, and a function that deletes it
   * @throws ApiError payload_too_large, request_timeout, service_unavailable, rate_limit_exceeded, bad_request; then
   *   nothing is left on disk
   */
  async read(owner: string): Promise<ScratchFile & { dispose: () => Promise<void> }> {
    const upload = new Upload(this.raw, this.limits, this.room, owner);
    const check = (bytes: number) => {
      if (bytes > this.limits.fileBytes) throw new ApiError('payload_too_large', { message: 'The file is too large.' });
    };
    try {
      // An iterator, because a pipeline that fails would destroy the request, and with it the connection for the
      // response.
      const source = bodyOf(this.raw).iterator({ destroyOnReturn: false });
      const file = await writeScratchFile(source, { path: join(upload.folder, 'file'), ...upload.target }, check);
      return { ...file, dispose: () => upload.dispose() };
    } catch (error) {
      await upload.dispose();
      throw upload.signal.aborted ? upload.signal.reason : error;
    }
  }
}
