import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { addressGroup } from '../../platform/http/address-group.ts';
import { MinuteCounts } from './minute-counts.ts';

/**
 * Limits how many requests without a valid key one address may make in a minute. Such requests cost only the time of
 * the process that answers, so each process counts its own.
 */
@Injectable()
export class KeylessRate {
  private readonly requests = new MinuteCounts();

  constructor(private readonly config: Config) {}

  /** Counts one request. @throws ApiError rate_limit_exceeded */
  count(address: string): void {
    const limit = this.config.rateKeylessPerMin;
    if (limit === 0) return;
    const { count, retryAfterS } = this.requests.count(addressGroup(address));
    if (count <= limit) return;
    const message = `An address may make ${limit} requests per minute without a key. Send one, or try again later.`;
    throw new ApiError('rate_limit_exceeded', { message, retryAfterS });
  }
}
