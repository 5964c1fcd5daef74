import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Interval } from '../../platform/interval.ts';
import { SweepDispatches } from '../sql/sweep-dispatches.ts';
import { DeliverWorker } from './deliver.worker.ts';

/** Retries come due silently, and the bell may be missed. */
const LOOK_EVERY_S = 0.5;
/** Share of the time that goes into looking: with thousands of endpoints waiting, a look takes long. */
const MOST_LOOKING = 0.1;
const PURGE_EVERY_S = 60;
const MS_PER_S = 1000;

/**
 * In every process that works: finds what is due, takes over from processes that died, and deletes events with the
 * retention of their tasks.
 */
@Injectable()
export class DeliverySweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly looking = new Interval(() => this.look(() => this.acts.due(), LOOK_EVERY_S));
  private readonly sweeping = new Interval(() => this.look(() => this.acts.releaseLapsed(), this.config.taskSweepS));
  private readonly purging = new Interval(() => this.purge());

  constructor(
    private readonly config: Config,
    private readonly acts: SweepDispatches,
    private readonly worker: DeliverWorker,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.looking.start();
    this.sweeping.start();
    this.purging.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.looking.stop(), this.sweeping.stop(), this.purging.stop()]);
  }

  /** @returns seconds until the next look */
  private async look(find: () => Promise<string[]>, everyS: number): Promise<number> {
    const startedAt = performance.now();
    try {
      this.worker.poll(await find());
    } catch (error) {
      this.logger.warn({ event: 'webhook.look_failed', err: error });
    }
    return Math.max(everyS, (performance.now() - startedAt) / MS_PER_S / MOST_LOOKING);
  }

  private async purge(): Promise<number> {
    try {
      return (await this.acts.purge()) ? 0 : PURGE_EVERY_S;
    } catch (error) {
      this.logger.warn({ event: 'webhook.purge_failed', err: error });
      return PURGE_EVERY_S;
    }
  }
}
