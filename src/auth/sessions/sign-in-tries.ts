import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Turns } from '../../platform/run/turns.ts';
import { addressGroup } from '../../platform/http/address-group.ts';
import { MinuteCounts } from '../limits/minute-counts.ts';

const MAX_FAILURES = 10;
/**
 * The maximum number of concurrent sign-ins, over all addresses. Each holds a database connection while its secret is
 * looked up.
 */
const AT_ONCE = 10;

/**
 * Limits the sign-ins of an address, in each process. After ten wrong secrets in a minute, a further wrong one gets
 * 429. A right secret is never refused, because all browsers of an office or behind a proxy share one address. Nobody
 * can guess a secret: it has at least 226 random bits. Addresses take turns, so an address that floods the service
 * delays only its own sign-ins.
 */
@Injectable()
export class SignInTries {
  private readonly failures = new MinuteCounts();
  private readonly turns = new Turns(AT_ONCE);

  /** @throws ApiError rate_limit_exceeded in place of the 401 of a wrong secret, and whatever `signIn` throws */
  async run<Result>(address: string, gone: AbortSignal, signIn: () => Promise<Result>): Promise<Result> {
    const client = addressGroup(address);
    try {
      return await this.turns.take(client, gone, signIn);
    } catch (error) {
      // Any other error, such as an unavailable database, says nothing about the secret that was tried.
      if (error instanceof ApiError && error.status === 401) this.noteFailure(client);
      throw error;
    }
  }

  /** @throws ApiError rate_limit_exceeded */
  private noteFailure(client: string): void {
    const { count, retryAfterS } = this.failures.count(client);
    if (count <= MAX_FAILURES) return;
    const message = `More than ${MAX_FAILURES} sign-ins from this address failed within a minute.`;
    throw new ApiError('rate_limit_exceeded', { message, retryAfterS });
  }
}
