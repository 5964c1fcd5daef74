import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../platform/config/config.ts';
import { Interval } from '../platform/run/interval.ts';
import { DAY_S, HOUR_S } from '../platform/schema/time.ts';
import { PURGE_ROWS, ROLL_UP_ROWS, RollUp } from './sql/roll-up.ts';

/**
 * Seconds between two rounds. A query also reads the ledger rows that no sum contains yet, so the interval affects only
 * its cost and not its result.
 */
const ROLL_UP_EVERY_S = 15;
const FIRST_PURGE_AFTER_S = 90;

/** Adds the ledger to the sums, and deletes both when their retention ends. Runs in every worker process. */
@Injectable()
export class RollUpWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('usage');
  private readonly rollUps = new Interval(() => this.rollUp());
  private readonly purges = new Interval(() => this.purge());

  constructor(
    private readonly config: Config,
    private readonly sums: RollUp,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.rollUps.start(ROLL_UP_EVERY_S);
    this.purges.start(FIRST_PURGE_AFTER_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.rollUps.stop(), this.purges.stop()]);
  }

  private async rollUp(): Promise<number> {
    try {
      return (await this.sums.next()) >= ROLL_UP_ROWS ? 0 : ROLL_UP_EVERY_S;
    } catch (err) {
      this.logger.warn({ event: 'usage.roll_up_failed', err });
      return ROLL_UP_EVERY_S;
    }
  }

  private async purge(): Promise<number> {
    try {
      return (await this.sums.purge(this.config.usageRetentionDays * DAY_S)) >= PURGE_ROWS ? 1 : HOUR_S;
    } catch (err) {
      this.logger.warn({ event: 'usage.purge_failed', err });
      return HOUR_S;
    }
  }
}
