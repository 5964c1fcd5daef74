import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors/api-error.ts';

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const ADDRESSES = 10_000;

interface Tries {
  failures: number;
  /** Milliseconds on the monotonic clock. */
  endsAt: number;
}

/**
 * At most 10 failed sign-ins a minute from one address, in each process. Successes do not count: behind a proxy or in an
 * office all browsers have one address.
 */
@Injectable()
export class SignInTries {
  private readonly tries = new LRUCache<string, Tries>({
    maxSize: ADDRESSES, // `max` would reserve 0.2 MB at once
    sizeCalculation: () => 1,
  });

  /**
   * Counts the try as failed before it runs, so that tries at the same moment cannot exceed the limit.
   * @throws ApiError rate_limit_exceeded, and whatever `signIn` throws
   */
  async run<Result>(address: string, signIn: () => Promise<Result>): Promise<Result> {
    const now = performance.now();
    let tries = this.tries.get(address);
    if (!tries || tries.endsAt <= now) this.tries.set(address, (tries = { failures: 0, endsAt: now + WINDOW_MS }));
    if (tries.failures >= MAX_FAILURES) {
      throw new ApiError('rate_limit_exceeded', {
        message: `More than ${MAX_FAILURES} sign-ins from this address failed within a minute.`,
        retryAfterS: Math.ceil((tries.endsAt - now) / 1000),
      });
    }
    tries.failures++;
    try {
      const result = await signIn();
      tries.failures--;
      return result;
    } catch (error) {
      // Anything else, such as an unavailable database, says nothing about the secret that was tried.
      if (!(error instanceof ApiError) || error.status !== 401) tries.failures--;
      throw error;
    }
  }
}
