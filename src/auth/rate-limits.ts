import { Injectable } from '@nestjs/common';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../errors/api-error.ts';
import type { Caller } from './caller.ts';

/** What a request is counted as: creating a generation, or anything else done with a key. */
export type RateBucket = 'create' | 'read';

const WINDOW_S = 60;
/** Refusals of a window that are told at once; a client that goes on regardless hears the rest late. */
const PROMPT_REFUSALS = 20;
/** So long a flood of one key waits between its requests, instead of taking the processor from the others. */
const LATE_MS = 50;

/**
 * Requests per minute and key, in fixed windows that open with a key's first request. Counted in this process's memory
 * (0.4 µs a request; asking the database would halve the throughput): n API processes let through up to n times the limit.
 */
@Injectable()
export class RateLimits {
  // The limiter only counts. The bound is the caller's own, so none is set here.
  readonly #counts = {
    create: new RateLimiterMemory({ keyPrefix: '', points: Number.MAX_SAFE_INTEGER, duration: WINDOW_S }),
    read: new RateLimiterMemory({ keyPrefix: '', points: Number.MAX_SAFE_INTEGER, duration: WINDOW_S }),
  };

  /**
   * Counts one request.
   * @returns the headers that tell the client where it stands (draft-ietf-httpapi-ratelimit-headers); null without a limit
   * @throws ApiError rate_limit_exceeded
   */
  async count(caller: Caller, bucket: RateBucket): Promise<Record<string, string> | null> {
    const limit = bucket === 'create' ? caller.limits.createsPerMinute : caller.limits.readsPerMinute;
    if (limit === 0) return null;
    const { consumedPoints, msBeforeNext } = await this.#counts[bucket].consume(caller.apiKeyId);
    const remaining = Math.max(0, limit - consumedPoints);
    const resetS = Math.max(1, Math.ceil(msBeforeNext / 1000));
    const headers = {
      'ratelimit-policy': `"${bucket}";q=${limit};w=${WINDOW_S}`,
      ratelimit: `"${bucket}";r=${remaining};t=${resetS}`,
    };
    if (consumedPoints <= limit) return headers;
    if (consumedPoints > limit + PROMPT_REFUSALS) await sleep(LATE_MS, undefined, { ref: false });
    throw new ApiError('rate_limit_exceeded', {
      message: `Your key may make ${limit} ${bucket} requests per minute. Try again in ${resetS} s.`,
      headers: { ...headers, 'retry-after': String(resetS) },
    });
  }
}
