import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { Caller, CallerBound } from '../access/caller.ts';
import { MinuteCounts } from './minute-counts.ts';
import { RateLimits } from './rate-limits.ts';

/**
 * The fields that query the schema itself. No resolver of this service answers them, so the guard does not count them.
 */
const SCHEMA_FIELDS = /\b__(?:schema|type)\b/;
/**
 * A key may send at least this many documents in a minute, however low its limit is. A document that a resolver answers
 * counts only until that resolver runs.
 */
const FEWEST = 20;

/**
 * Limits the GraphQL documents that no resolver answers, such as refused ones: the guard counts only where a resolver
 * runs. In each process a key may send as many of these documents in a minute as its limit of reads, but at least
 * `FEWEST`. A key without a limit of reads may send any number. A query of the schema also counts as a read.
 */
@Injectable()
export class DocumentRates {
  private readonly unanswered = new MinuteCounts();
  /** The caller of each request whose document no resolver has answered yet. */
  private readonly admitted = new WeakMap<object, Caller>();

  constructor(private readonly rateLimits: RateLimits) {}

  /**
   * Called before a document is parsed. Counts it until a resolver runs.
   * @param request the object that the guard of a resolver will get
   * @throws ApiError rate_limit_exceeded
   */
  async admit(request: object, caller: Caller, text: string): Promise<void> {
    for (const key of withBounds(caller)) this.assertMayAsk(key);
    for (const { apiKeyId } of withBounds(caller)) this.unanswered.count(apiKeyId);
    this.admitted.set(request, caller);
    if (SCHEMA_FIELDS.test(text)) await this.rateLimits.count(caller, 'read');
  }

  /** Called when a resolver runs: from then on the guard counts. */
  answered(request: object): void {
    const caller = this.admitted.get(request);
    if (!caller || !this.admitted.delete(request)) return;
    for (const { apiKeyId } of withBounds(caller)) this.unanswered.count(apiKeyId, -1);
  }

  private assertMayAsk({ apiKeyId, limits: { readsPerMinute = 0 } }: Pick<CallerBound, 'apiKeyId' | 'limits'>): void {
    if (readsPerMinute === 0) return;
    const most = Math.max(readsPerMinute, FEWEST);
    const { count, retryAfterS } = this.unanswered.count(apiKeyId, 0);
    if (count < most) return;
    const message = `Your key may send ${most} documents per minute that no resolver answers. Try again in ${retryAfterS} s.`;
    throw new ApiError('rate_limit_exceeded', { message, retryAfterS });
  }
}

const withBounds = (caller: Caller) => [caller, ...(caller.bounds ?? [])];
