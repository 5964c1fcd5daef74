import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { addressGroup } from './address-group.ts';
import { WINDOW_S } from './rate-window.ts';

const ADDRESSES = 10_000;

interface Window {
  requests: number;
  /** Milliseconds on the monotonic clock. */
  endsAt: number;
}

/**
 * Bounds the requests a minute of one address that carry no valid key. In each process: they cost it time, and nothing
 * else.
 */
@Injectable()
export class KeylessRate {
  private readonly windows = new LRUCache<string, Window>({
    maxSize: ADDRESSES, // `max` would reserve 0.2 MB at once
    sizeCalculation: () => 1,
  });

  constructor(private readonly config: Config) {}

  /** Counts one request. @throws ApiError rate_limit_exceeded */
  count(address: string): void {
    const limit = this.config.rateKeylessPerMin;
    if (limit === 0) return;
    const now = performance.now();
    const group = addressGroup(address);
    let window = this.windows.get(group);
    if (!window || window.endsAt <= now) {
      this.windows.set(group, (window = { requests: 0, endsAt: now + WINDOW_S * 1000 }));
    }
    if (window.requests >= limit) {
      throw new ApiError('rate_limit_exceeded', {
        message: `An address may make ${limit} requests per minute without a key. Send one, or try again later.`,
        retryAfterS: Math.ceil((window.endsAt - now) / 1000),
      });
    }
    window.requests += 1;
  }
}
