import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';

/**
 * The maximum number of bytes of files in memory at any time, for all answers of this process. Base64 and JSON make a
 * file take about three times its size.
 */
const MAX_BYTES = 200_000_000;
/**
 * The maximum for one API key, which is two resources of the largest size. Only five keys together can use up
 * MAX_BYTES.
 */
const MAX_BYTES_PER_KEY = 40_000_000;

/**
 * Bounds the files that wait in memory for slow clients, because one batch may ask for fifty files of the largest size.
 */
@Injectable()
export class LoadedFiles {
  private readonly byKey = new Map<string, number>();
  private total = 0;

  /**
   * Reserves memory until the response is closed. Call this before the file is read.
   * @param url where the client can download the file
   * @throws ApiError rate_limit_exceeded, service_unavailable
   */
  admit(bytes: number, { apiKeyId, reply, url }: { apiKeyId: string; reply: FastifyReply; url: string }): void {
    const ofKey = this.byKey.get(apiKeyId) ?? 0;
    if (ofKey + bytes > MAX_BYTES_PER_KEY) {
      throw new ApiError('rate_limit_exceeded', {
        message: `All answers to one API key together hold at most ${MAX_BYTES_PER_KEY} bytes of files. Download this one: ${url}`,
        retryAfterS: 5,
      });
    }
    if (this.total + bytes > MAX_BYTES) {
      throw new ApiError('service_unavailable', {
        message: `Too many files are read at once. Download this one: ${url}`,
      });
    }
    this.add(apiKeyId, bytes);
    const release = () => this.add(apiKeyId, -bytes);
    if (reply.raw.destroyed) release();
    else reply.raw.once('close', release);
  }

  private add(apiKeyId: string, bytes: number): void {
    this.total += bytes;
    const ofKey = (this.byKey.get(apiKeyId) ?? 0) + bytes;
    if (ofKey > 0) this.byKey.set(apiKeyId, ofKey);
    else this.byKey.delete(apiKeyId);
  }
}
