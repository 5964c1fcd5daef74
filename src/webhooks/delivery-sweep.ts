import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../platform/config.ts';
import { Repeat } from '../platform/repeat.ts';
import { SweepDispatches } from './acts/sweep-dispatches.ts';
import { DeliverWorker } from './deliver.worker.ts';

const PURGE_EVERY_S = 60;

/** In every process that works: takes over from processes that died, and deletes events with the retention of their tasks. */
@Injectable()
export class DeliverySweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly sweeping = new Repeat(() => this.sweep());
  private readonly purging = new Repeat(() => this.purge());

  constructor(
    private readonly config: Config,
    private readonly acts: SweepDispatches,
    private readonly worker: DeliverWorker,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.sweeping.start();
    this.purging.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.sweeping.stop(), this.purging.stop()]);
  }

  /** @returns seconds until the next look */
  private async sweep(): Promise<number> {
    try {
      const found = await this.acts.found();
      await Promise.all(found.map((endpointId) => this.worker.look(endpointId)));
    } catch (error) {
      this.logger.warn({ event: 'webhook.sweep_failed', err: error });
    }
    return this.config.taskSweepS;
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
