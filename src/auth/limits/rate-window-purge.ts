import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { purgeInterval } from '../../platform/run/purge-interval.ts';
import { DeleteRateWindows, PURGE_WINDOWS } from './sql/delete-rate-windows.ts';

/** Deletes rate limit windows that ended a while ago. Runs in every worker process. */
@Injectable()
export class RateWindowPurge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly purges = purgeInterval({
    logger: new Logger('auth'),
    failure: 'rate_windows.purge_failed',
    fullRound: PURGE_WINDOWS,
    pauseS: 600,
    purge: () => this.windows.deleteEnded(),
  });

  constructor(
    private readonly config: Config,
    private readonly windows: DeleteRateWindows,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.purges.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.purges.stop();
  }
}
