import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';

/** The maximum number of open archives of one key, in each process. */
const MAX_PER_KEY = 4;
/** The maximum number of open archives of all keys together, in each process. */
const MAX_OPEN = 50;

/** The archives that are being read. Their number is limited for each key, and for all keys together. */
@Injectable()
export class OpenArchives {
  private readonly ofKey = new Map<string, number>();
  private total = 0;

  /**
   * @returns a function to call once, when the archive is no longer read
   * @throws ApiError rate_limit_exceeded, service_unavailable
   */
  take(apiKeyId: string): () => void {
    const count = this.ofKey.get(apiKeyId) ?? 0;
    if (count >= MAX_PER_KEY) {
      const message = `${MAX_PER_KEY} archives of this API key are being read in this process, which is the limit.`;
      throw new ApiError('rate_limit_exceeded', { message, retryAfterS: 10 });
    }
    if (this.total >= MAX_OPEN) {
      const message = 'Too many archives are being read; try again.';
      throw new ApiError('service_unavailable', { message, retryAfterS: 10 });
    }
    this.total += 1;
    this.ofKey.set(apiKeyId, count + 1);
    return () => this.release(apiKeyId);
  }

  private release(apiKeyId: string): void {
    this.total -= 1;
    const count = this.ofKey.get(apiKeyId)! - 1;
    if (count > 0) this.ofKey.set(apiKeyId, count);
    else this.ofKey.delete(apiKeyId);
  }
}
