import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../config/config.ts';
import { Turns } from '../run/turns.ts';

/** Such requests of one API key at a time. */
const OF_A_KEY = 2;
/** The share of the connections of this process that all such requests may use. */
const SHARE = 1 / 3;
const MAX_WAIT_MS = 5_000;

/**
 * Lets requests take turns that hold a connection for long: those that may read very many rows (searches, counts, usage,
 * lists of batches, figures and logs of webhooks), and stars, which wait for each other. Without a bound those of one API
 * key would leave no connection for others.
 */
@Injectable()
export class KeyTurns {
  private readonly turns: Turns;

  constructor({ databasePoolMax }: Config) {
    this.turns = new Turns(Math.max(1, Math.floor(databasePoolMax * SHARE)), OF_A_KEY);
  }

  /** @throws ApiError service_unavailable when the turn does not come within `MAX_WAIT_MS` */
  async take<Result>(apiKeyId: string, work: () => Promise<Result>): Promise<Result> {
    const tooLong = AbortSignal.timeout(MAX_WAIT_MS);
    const leave = await this.turns.enter(apiKeyId, tooLong).catch(() => {
      const message = `At most ${OF_A_KEY} such requests of an API key run at a time, and this one has waited too long.`;
      throw new ApiError('service_unavailable', { message, retryAfterS: 1 });
    });
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
