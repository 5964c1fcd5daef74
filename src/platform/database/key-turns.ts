import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../config/config.ts';
import { Turns } from '../run/turns.ts';

/** The most turns that one API key has at a time. */
const OF_A_KEY = 2;
/** The part of the pool's connections that all turns of this process may hold. */
const SHARE = 1 / 3;
const MAX_WAIT_MS = 5_000;

/**
 * Bounds how many requests hold a connection for long at the same time. These are requests that may read very many rows
 * (searches, counts, usage, lists of batches, figures and logs of webhooks), and changes of stars, which wait for each
 * other. Without the bound, the requests of one API key could take all connections.
 */
@Injectable()
export class KeyTurns {
  private readonly turns: Turns;

  constructor({ databasePoolMax }: Config) {
    this.turns = new Turns(Math.max(1, Math.floor(databasePoolMax * SHARE)), OF_A_KEY);
  }

  /**
   * Waits for a turn, then runs `work`.
   * @throws ApiError service_unavailable when the turn does not come within `MAX_WAIT_MS`
   */
  async take<Result>(apiKeyId: string, work: () => Promise<Result>): Promise<Result> {
    const tooLong = AbortSignal.timeout(MAX_WAIT_MS);
    const leave = await this.turns.enter(apiKeyId, tooLong).catch(() => {
      const message = 'Too many requests that read much run at present, and this one has waited too long; try again.';
      throw new ApiError('service_unavailable', { message, retryAfterS: 1 });
    });
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
