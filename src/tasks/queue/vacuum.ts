import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { VacuumQueue } from '../sql/vacuum-queue.ts';

/**
 * Seconds between checks. Autovacuum looks once a minute at best. A load of a thousand tasks a second leaves 200,000
 * dead rows in a minute.
 */
const EVERY_S = 15;

/** Runs in every worker process. Vacuums the queue when it has many dead rows. */
@Injectable()
export class Vacuum implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('sweep');
  private readonly interval = new Interval(() => this.runOnce());

  constructor(
    private readonly config: Config,
    private readonly queue: VacuumQueue,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start(EVERY_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  private async runOnce(): Promise<number> {
    try {
      await this.queue.vacuum();
    } catch (err) {
      this.logger.warn({ event: 'sweep.vacuum_failed', err }); // autovacuum does it later
    }
    return EVERY_S;
  }
}
