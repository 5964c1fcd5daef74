import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { Caller } from '../access/caller.ts';
import { AddressWindows } from './address-windows.ts';
import { RateLimits } from './rate-limits.ts';

/**
 * The fields that query the schema itself. No resolver of this service answers them, so the guard does not count them.
 */
const SCHEMA_FIELDS = /\b__(?:schema|type)\b/;

/**
 * Limits the GraphQL documents of a key that no resolver answers, such as refused ones: the guard counts only where a
 * resolver runs. A key may send as many of them in a minute as reads, at each process. A query of the schema is a read too.
 */
@Injectable()
export class DocumentRates {
  private readonly unanswered = new AddressWindows();

  constructor(private readonly rateLimits: RateLimits) {}

  /**
   * Called before a document is parsed.
   * @throws ApiError rate_limit_exceeded
   */
  async admit(caller: Caller, text: string): Promise<void> {
    const { readsPerMinute = 0 } = caller.limits;
    const { count, retryAfterS } = this.unanswered.count(caller.apiKeyId, 0);
    if (readsPerMinute > 0 && count >= readsPerMinute) {
      const message = `Your key may send ${readsPerMinute} documents per minute that no resolver answers. Try again in ${retryAfterS} s.`;
      throw new ApiError('rate_limit_exceeded', { message, retryAfterS });
    }
    if (SCHEMA_FIELDS.test(text)) await this.rateLimits.count(caller, 'read');
  }

  /** Counts a document that no resolver has answered. */
  countUnanswered({ apiKeyId }: Caller): void {
    this.unanswered.count(apiKeyId);
  }
}
