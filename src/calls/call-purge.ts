import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../platform/config/config.ts';
import { purgeInterval } from '../platform/run/purge-interval.ts';
import { PURGE_CALLS, PurgeCalls } from './sql/purge-calls.ts';

const PURGE_EVERY_S = 60;

/** Deletes calls that no retry can join any more. Runs in every worker process. */
@Injectable()
export class CallPurge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly purges = purgeInterval({
    logger: new Logger('calls'),
    failure: 'calls.purge_failed',
    fullRound: PURGE_CALLS,
    pauseS: PURGE_EVERY_S,
    purge: () => this.rows.purge(),
  });

  constructor(
    private readonly config: Config,
    private readonly rows: PurgeCalls,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.purges.start(PURGE_EVERY_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.purges.stop();
  }
}
