import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import { isDatabaseAway } from '../../errors/database-away.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql } from '../../platform/database/sql.ts';
import { counter, OperatorCounts } from '../../platform/observe/measuring/declare.ts';
import type { Caller, CallerBound, RateBucket } from '../access/caller.ts';
import { leaseRatePoints } from './sql/lease-rate-points.ts';
import { RateWindow, WINDOW_S } from './rate-window.ts';

const rateRefusals = counter('darkroom_rate_refusals_total', 'Requests over the rate limit of their API key.', [
  'bucket',
]);

/** Requests refused by a rate limit, by API key. Operators can read these counts. */
export const refusalsByKey = new OperatorCounts();

const rateLeases = counter(
  'darkroom_rate_leases_total',
  'Shares of a rate limit that this process took: from the count of all processes, or on credit while it was away.',
  ['result'],
);

for (const bucket of ['create', 'read']) rateRefusals.inc({ bucket }, 0);
for (const result of ['leased', 'credit']) rateLeases.inc({ result }, 0);

/** Response headers that state the limit and what is left of it. */
type RateLimitHeaders = Record<string, string>;

/** The maximum number of windows in memory. An evicted window costs another lease, and its unspent points are lost. */
const MAX_WINDOWS = 20_000;
/**
 * Rejections per window that are sent without delay. Further rejections are delayed, to throttle a client that ignores
 * them.
 */
const PROMPT_REJECTIONS = 20;
/**
 * The delay of each rejection after `PROMPT_REJECTIONS`. It leaves CPU time to other keys while one key floods the
 * service.
 */
const REJECTION_DELAY_MS = 50;

/**
 * Limits the requests of each key per minute, over all processes. The windows are fixed, and open with the first
 * request of a key. Each process leases points from the count in the database, several at a time, and spends them from
 * memory. While the database answers, the processes together never admit more than the limit. While it is unavailable,
 * each process counts alone.
 */
@Injectable()
export class RateLimits {
  private readonly windows = new LRUCache<string, RateWindow>({
    maxSize: MAX_WINDOWS, // `max` would allocate 0.4 MB in advance
    sizeCalculation: () => 1,
  });
  private readonly refills = new WeakMap<RateWindow, Promise<void>>();
  private readonly leases: Batch<RateWindow, void>;

  constructor(private readonly sql: Sql) {
    this.leases = new Batch((windows) => this.lease(windows), { name: 'auth.rate_leases' });
  }

  /**
   * Counts one request. Returns without a promise while leased points are left, if no key above has limits.
   * @returns the headers of draft-ietf-httpapi-ratelimit-headers; null or an empty object if the key itself has no
   *   limit
   * @throws ApiError rate_limit_exceeded
   */
  count(caller: Caller, bucket: RateBucket): Promise<RateLimitHeaders> | RateLimitHeaders | null {
    const own = this.countFor(caller, bucket);
    return caller.bounds === undefined ? own : this.countAbove(own, caller.bounds, bucket);
  }

  /** @returns the headers of the key's own limit, after the request is counted for the keys above it */
  private async countAbove(
    own: Promise<RateLimitHeaders> | RateLimitHeaders | null,
    bounds: readonly CallerBound[],
    bucket: RateBucket,
  ): Promise<RateLimitHeaders> {
    const headers = (await own) ?? {};
    for (const bound of bounds) await this.countFor(bound, bucket);
    return headers;
  }

  private countFor(
    { apiKeyId, limits }: Pick<CallerBound, 'apiKeyId' | 'limits'>,
    bucket: RateBucket,
  ): Promise<RateLimitHeaders> | RateLimitHeaders | null {
    const { createsPerMinute = 0, readsPerMinute = 0 } = limits;
    const limit = bucket === 'create' ? createsPerMinute : readsPerMinute;
    if (limit === 0) return null;
    const window = this.windowOf(apiKeyId, bucket, limit);
    if (window.needsLease(performance.now())) return this.leaseAndSpend(window);
    return this.spend(window);
  }

  private async leaseAndSpend(window: RateWindow): Promise<RateLimitHeaders> {
    while (window.needsLease(performance.now())) await this.refill(window);
    return this.spend(window);
  }

  private spend(window: RateWindow): Promise<never> | RateLimitHeaders {
    const { bucket, limit } = window;
    const isAdmitted = window.take();
    const resetS = Math.max(1, Math.ceil(window.msLeft(performance.now()) / 1000));
    const headers = {
      'ratelimit-policy': `"${bucket}";q=${limit};w=${WINDOW_S}`,
      ratelimit: `"${bucket}";r=${window.remaining};t=${resetS}`,
    };
    if (isAdmitted) return headers;
    rateRefusals.inc({ bucket });
    refusalsByKey.add(window.apiKeyId);
    const rejection = new ApiError('rate_limit_exceeded', {
      message: `Your key may make ${limit} ${bucket} requests per minute. Try again in ${resetS} s.`,
      headers: { ...headers, 'retry-after': String(resetS) },
    });
    return this.reject(rejection, window.rejections > PROMPT_REJECTIONS ? REJECTION_DELAY_MS : 0);
  }

  private async reject(rejection: ApiError, delayMs: number): Promise<never> {
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
    throw rejection;
  }

  private windowOf(apiKeyId: string, bucket: RateBucket, limit: number): RateWindow {
    const name = `${bucket} ${apiKeyId}`;
    let window = this.windows.get(name);
    if (window?.limit !== limit) this.windows.set(name, (window = new RateWindow(apiKeyId, bucket, limit)));
    return window;
  }

  /** Requests of one key share a lease. Leases of several keys share a statement. */
  private async refill(window: RateWindow): Promise<void> {
    window.waiting += 1;
    try {
      let refill = this.refills.get(window);
      if (!refill) {
        refill = this.leaseOrLend(window).finally(() => this.refills.delete(window));
        this.refills.set(window, refill);
      }
      await refill;
    } finally {
      window.waiting -= 1;
    }
  }

  private async leaseOrLend(window: RateWindow): Promise<void> {
    try {
      await this.leases.add(window);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      window.lendOnCredit(performance.now());
      rateLeases.inc({ result: 'credit' });
    }
  }

  private async lease(windows: RateWindow[]): Promise<void[]> {
    const sentAt = performance.now();
    const requests = windows.map((window) => ({
      apiKeyId: window.apiKeyId,
      bucket: window.bucket,
      points: window.pointsToLease(sentAt),
    }));
    const leases = await leaseRatePoints(this.sql, requests);
    rateLeases.inc({ result: 'leased' }, windows.length);
    // The database reads its clock after the statement was sent, so an end counted from `sentAt` is never too late.
    return windows.map((window, at) => {
      const { taken, msLeft } = leases[at]!;
      window.lease(requests[at]!.points, taken, sentAt + msLeft);
    });
  }
}
