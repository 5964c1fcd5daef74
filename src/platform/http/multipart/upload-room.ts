import { ApiError } from '../../../errors/api-error.ts';
import type { UploadLimits } from '../limits.ts';

/** Bounds the uploads in progress in this process, and the disk that their scratch files take. */
export class UploadRoom {
  private readonly uploadsOf = new Map<string, number>();
  private uploads = 0;
  private bytes = 0;

  constructor(private readonly limits: UploadLimits) {}

  /**
   * @param owner whose uploads count together: the API key
   * @throws ApiError service_unavailable, rate_limit_exceeded
   */
  enter(owner: string): UploadPlace {
    const own = this.uploadsOf.get(owner) ?? 0;
    if (own >= this.limits.atOnceOfOwner) {
      const message = `At most ${this.limits.atOnceOfOwner} uploads at once; wait for one to end.`;
      throw new ApiError('rate_limit_exceeded', { message, retryAfterS: 1 });
    }
    if (this.uploads >= this.limits.atOnce) throw full();
    this.uploads += 1;
    this.uploadsOf.set(owner, own + 1);
    let written = 0;
    let isOpen = true;
    return {
      add: (bytes) => {
        if (this.bytes + bytes > this.limits.scratchBytes) throw full();
        this.bytes += bytes;
        written += bytes;
      },
      leave: () => {
        if (!isOpen) return;
        isOpen = false;
        this.uploads -= 1;
        this.bytes -= written;
        const left = (this.uploadsOf.get(owner) ?? 1) - 1;
        if (left === 0) this.uploadsOf.delete(owner);
        else this.uploadsOf.set(owner, left);
      },
    };
  }
}

/** The place of one upload. */
export interface UploadPlace {
  /** Counts bytes that are about to be written. @throws ApiError service_unavailable */
  add(bytes: number): void;
  /** Frees the place and its bytes, once they are deleted. */
  leave(): void;
}

function full(): ApiError {
  return new ApiError('service_unavailable', {
    message: 'The service is receiving as many uploads as it can; try again.',
    retryAfterS: 1,
  });
}
