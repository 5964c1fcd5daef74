import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors/api-error.ts';
import { Turns } from '../../platform/run/turns.ts';
import { addressGroup } from '../limits/address-group.ts';

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const ADDRESSES = 10_000;
/** Of all addresses. Each holds a connection to the database while its secret is looked up. */
const AT_ONCE = 10;

interface Failures {
  count: number;
  /** Milliseconds on the monotonic clock. */
  endsAt: number;
}

/**
 * The sign-ins of an address, in each process. Behind a proxy or in an office all browsers have one address. So a right
 * secret is never refused, whatever others have tried. Nobody can guess one of 238 random bits. A wrong one gets 429
 * after ten of them a minute, and addresses take turns, so that a flood delays its own.
 */
@Injectable()
export class SignInTries {
  private readonly failures = new LRUCache<string, Failures>({
    maxSize: ADDRESSES, // `max` would reserve 0.2 MB at once
    sizeCalculation: () => 1,
  });
  private readonly turns = new Turns(AT_ONCE);

  /** @throws ApiError rate_limit_exceeded in place of the 401 of a wrong secret, and whatever `signIn` throws */
  async run<Result>(address: string, gone: AbortSignal, signIn: () => Promise<Result>): Promise<Result> {
    const group = addressGroup(address);
    try {
      return await this.turns.take(group, gone, signIn);
    } catch (error) {
      // Anything else, such as an unavailable database, says nothing about the secret that was tried.
      if (error instanceof ApiError && error.status === 401) this.noteFailure(group);
      throw error;
    }
  }

  /** @throws ApiError rate_limit_exceeded */
  private noteFailure(group: string): void {
    const now = performance.now();
    let failures = this.failures.get(group);
    if (!failures || failures.endsAt <= now)
      this.failures.set(group, (failures = { count: 0, endsAt: now + WINDOW_MS }));
    failures.count += 1;
    if (failures.count <= MAX_FAILURES) return;
    throw new ApiError('rate_limit_exceeded', {
      message: `More than ${MAX_FAILURES} sign-ins from this address failed within a minute.`,
      retryAfterS: Math.ceil((failures.endsAt - now) / 1000),
    });
  }
}
