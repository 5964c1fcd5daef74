import { ApiError } from '../../../errors/api-error.ts';
import type { UploadLimits } from '../limits.ts';

/** Bounds the uploads in progress in this process, and the disk space of their scratch files. */
export class UploadRoom {
  private readonly used = new Map<string, { uploads: number; bytes: number }>();
  private uploads = 0;
  private bytes = 0;

  constructor(private readonly limits: UploadLimits) {}

  /**
   * Takes a place for one upload.
   * @param owner the API key: all its uploads count together
   * @throws ApiError service_unavailable, rate_limit_exceeded
   */
  enter(owner: string): UploadPlace {
    const { atOnce, atOnceOfOwner, scratchBytes, scratchBytesOfOwner } = this.limits;
    const own = this.used.get(owner) ?? { uploads: 0, bytes: 0 };
    if (own.uploads >= atOnceOfOwner) throw ownFull(`At most ${atOnceOfOwner} uploads at once`);
    if (this.uploads >= atOnce) throw full();
    this.uploads += 1;
    own.uploads += 1;
    this.used.set(owner, own);
    let written = 0;
    let isOpen = true;
    return {
      add: (bytes) => {
        if (own.bytes + bytes > scratchBytesOfOwner)
          throw ownFull(`At most ${scratchBytesOfOwner} bytes in uploads at once`);
        if (this.bytes + bytes > scratchBytes) throw full();
        this.bytes += bytes;
        own.bytes += bytes;
        written += bytes;
      },
      leave: () => {
        if (!isOpen) return;
        isOpen = false;
        this.uploads -= 1;
        this.bytes -= written;
        own.uploads -= 1;
        own.bytes -= written;
        if (own.uploads === 0) this.used.delete(owner);
      },
    };
  }
}

/** What one upload takes of an `UploadRoom`. */
export interface UploadPlace {
  /** Counts bytes that are about to be written. @throws ApiError service_unavailable, rate_limit_exceeded */
  add(bytes: number): void;
  /** Frees the place and its bytes. Call this when the files are deleted. */
  leave(): void;
}

function ownFull(bound: string): ApiError {
  return new ApiError('rate_limit_exceeded', { message: `${bound}; wait for one to end.`, retryAfterS: 1 });
}

function full(): ApiError {
  return new ApiError('service_unavailable', {
    message: 'The service is receiving as many uploads as it can; try again.',
    retryAfterS: 1,
  });
}
