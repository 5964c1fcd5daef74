import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { purgePauseS } from '../../platform/run/purge-interval.ts';
import { PurgeEvents } from '../sql/purge-events.ts';
import { SweepDispatches } from '../sql/sweep-dispatches.ts';
import { DeliverWorker } from './deliver.worker.ts';

/** Seconds between polls. Polls are needed, because retries become due without a signal, and a signal may be lost. */
const POLL_EVERY_S = 0.5;
/**
 * The largest fraction of the time that polling may take. A poll takes long when thousands of endpoints have deliveries
 * waiting.
 */
const MAX_POLL_SHARE = 0.1;
const MS_PER_S = 1000;

/**
 * Polls for due dispatches, takes over attempts of dead processes, and deletes expired events. Runs in every worker
 * process.
 */
@Injectable()
export class DeliverySweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly polls = new Interval(() => this.poll(() => this.dispatches.due(), POLL_EVERY_S));
  private readonly sweeps = new Interval(() =>
    this.poll(() => this.dispatches.releaseLapsed(), this.config.taskSweepS),
  );
  private readonly purges = new Interval(() => this.purge());

  constructor(
    private readonly config: Config,
    private readonly dispatches: SweepDispatches,
    private readonly events: PurgeEvents,
    private readonly worker: DeliverWorker,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.polls.start();
    this.sweeps.start();
    this.purges.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.polls.stop(), this.sweeps.stop(), this.purges.stop()]);
  }

  /** @returns seconds until the next poll */
  private async poll(findEndpoints: () => Promise<string[]>, everyS: number): Promise<number> {
    const startedAt = performance.now();
    try {
      this.worker.poll(await findEndpoints());
    } catch (error) {
      this.logger.warn({ event: 'webhook.poll_failed', err: error });
    }
    return Math.max(everyS, (performance.now() - startedAt) / MS_PER_S / MAX_POLL_SHARE);
  }

  private async purge(): Promise<number> {
    const everyS = purgePauseS(this.config.taskSweepS);
    try {
      return (await this.events.run()) ? 0 : everyS;
    } catch (error) {
      this.logger.warn({ event: 'webhook.purge_failed', err: error });
      return everyS;
    }
  }
}
