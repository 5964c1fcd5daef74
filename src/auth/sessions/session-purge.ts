import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { purgeInterval } from '../../platform/run/purge-interval.ts';
import { OneTimeCodes } from './one-time-codes.ts';
import { SessionsService } from './sessions.service.ts';

const PURGE_EVERY_S = 3_600;
const FIRST_PURGE_AFTER_S = 90;

/** Deletes ended sessions and expired sign-in codes. Runs in every worker process. */
@Injectable()
export class SessionPurge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly purges = purgeInterval({
    logger: new Logger('auth'),
    failure: 'session.purge_failed',
    fullRound: Infinity,
    pauseS: PURGE_EVERY_S,
    purge: async () => (await this.sessions.purge()) + (await this.codes.purge()),
  });

  constructor(
    private readonly config: Config,
    private readonly sessions: SessionsService,
    private readonly codes: OneTimeCodes,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.purges.start(FIRST_PURGE_AFTER_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.purges.stop();
  }
}
