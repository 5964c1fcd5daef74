import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import { isDatabaseAway } from '../../errors/database-away.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql } from '../../platform/database/sql.ts';
import type { Caller } from '../caller.ts';
import { leaseRatePoints } from '../sql/lease-rate-points.ts';
import { type RateBucket, RateWindow, WINDOW_S } from './rate-window.ts';

/** Headers that tell a client how much of its limit is left. */
type Standing = Record<string, string>;

/** Windows remembered. One that is forgotten costs a lease, and what was left of the last one. */
const CAPACITY = 20_000;
/** Refusals of a window that are told at once; a client that goes on regardless hears the rest late. */
const PROMPT_REFUSALS = 20;
/** So long a flood of one key waits between its requests, instead of taking the processor from the others. */
const LATE_MS = 50;

/**
 * Requests per minute and key, in fixed windows that open with a key's first request, over all processes: each leases
 * points from the count in the database, several at a time, and spends them from memory. Never more than the limit goes
 * through. While the database is away each process counts alone.
 */
@Injectable()
export class RateLimits {
  readonly #windows = new LRUCache<string, RateWindow>({ max: CAPACITY });
  readonly #refills = new WeakMap<RateWindow, Promise<void>>();
  readonly #leases: Batch<RateWindow, void>;

  constructor(private readonly sql: Sql) {
    this.#leases = new Batch((windows) => this.#lease(windows));
  }

  /**
   * Counts one request; without a promise while there are points left.
   * @returns the headers that tell the client where it stands (draft-ietf-httpapi-ratelimit-headers); null without a limit
   * @throws ApiError rate_limit_exceeded
   */
  count(caller: Caller, bucket: RateBucket): Promise<Standing> | Standing | null {
    const limit = bucket === 'create' ? caller.limits.createsPerMinute : caller.limits.readsPerMinute;
    if (limit === 0) return null;
    const window = this.#windowOf(caller.apiKeyId, bucket, limit);
    if (window.needsLease(performance.now())) return this.#leaseAndSpend(window);
    return this.#spend(window);
  }

  async #leaseAndSpend(window: RateWindow): Promise<Standing> {
    while (window.needsLease(performance.now())) await this.#refill(window);
    return this.#spend(window);
  }

  #spend(window: RateWindow): Promise<never> | Standing {
    const { bucket, limit } = window;
    const isAdmitted = window.take();
    const resetS = Math.max(1, Math.ceil(window.msLeft(performance.now()) / 1000));
    const standing = {
      'ratelimit-policy': `"${bucket}";q=${limit};w=${WINDOW_S}`,
      ratelimit: `"${bucket}";r=${window.remaining};t=${resetS}`,
    };
    if (isAdmitted) return standing;
    const refusal = new ApiError('rate_limit_exceeded', {
      message: `Your key may make ${limit} ${bucket} requests per minute. Try again in ${resetS} s.`,
      headers: { ...standing, 'retry-after': String(resetS) },
    });
    return this.#refuse(refusal, window.refused > PROMPT_REFUSALS ? LATE_MS : 0);
  }

  async #refuse(refusal: ApiError, lateMs: number): Promise<never> {
    if (lateMs > 0) await sleep(lateMs, undefined, { ref: false });
    throw refusal;
  }

  #windowOf(apiKeyId: string, bucket: RateBucket, limit: number): RateWindow {
    const name = `${bucket} ${apiKeyId}`;
    let window = this.#windows.get(name);
    if (window?.limit !== limit) this.#windows.set(name, (window = new RateWindow(apiKeyId, bucket, limit)));
    return window;
  }

  /** Requests of one key share a lease; those of several keys share a statement. */
  async #refill(window: RateWindow): Promise<void> {
    window.waiting += 1;
    try {
      let refill = this.#refills.get(window);
      if (!refill) {
        refill = this.#fill(window).finally(() => this.#refills.delete(window));
        this.#refills.set(window, refill);
      }
      await refill;
    } finally {
      window.waiting -= 1;
    }
  }

  async #fill(window: RateWindow): Promise<void> {
    try {
      await this.#leases.add(window);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      window.lendOnCredit(performance.now());
    }
  }

  async #lease(windows: RateWindow[]): Promise<void[]> {
    const askedAt = performance.now();
    const asked = windows.map((window) => ({
      apiKeyId: window.apiKeyId,
      bucket: window.bucket,
      points: window.ask(askedAt),
    }));
    const leases = await leaseRatePoints(this.sql, asked);
    // From the asking on, which was earlier than the database's answer: so the end is never put too late.
    return windows.map((window, at) => {
      const { taken, msLeft } = leases[at]!;
      window.lease(asked[at]!.points, taken, askedAt + msLeft);
    });
  }
}
