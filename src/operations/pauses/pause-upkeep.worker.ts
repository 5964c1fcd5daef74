import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { Pauses } from '../../tasks/queue/pauses.ts';
import { FollowPauses } from '../../tasks/queue/follow-pauses.ts';
import { PausesService } from './pauses.service.ts';

const EVERY_S = 4;

/**
 * Runs in every worker process. Ends pauses on time. Parks waiting tasks of paused models, and lets them wait for a
 * worker again after the pause. Concurrent runs are safe, because each skips rows that another has locked.
 */
@Injectable()
export class PauseUpkeepWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('pauses');
  private readonly interval = new Interval(() => this.run());
  private isStopped = false;

  constructor(
    private readonly config: Config,
    private readonly pauses: Pauses,
    private readonly service: PausesService,
    private readonly tasks: FollowPauses,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.pauses.onChange(() => void this.interval.runNow());
    this.interval.start(EVERY_S);
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await this.interval.stop();
  }

  /** @returns seconds until the next run */
  private async run(): Promise<number> {
    try {
      await this.service.endDue();
      await this.tasks.follow(() => this.isStopped);
    } catch (err) {
      this.logger.warn({ event: 'pauses.upkeep_failed', err });
    }
    return EVERY_S;
  }
}
