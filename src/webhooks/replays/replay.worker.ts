import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { DeliverySignal } from '../deliveries/delivery-signal.ts';
import { ReplayEvents } from '../sql/replay-events.ts';

/**
 * Seconds between polls: IDLE_S while no replay is running, BUSY_S while one is. These intervals do not set the speed
 * of a replay: its row sets the pace for all processes.
 */
const IDLE_S = 2;
const BUSY_S = 0.1;

/** Queues the events of replays step by step. Runs in every worker process. */
@Injectable()
export class ReplayWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly interval = new Interval(() => this.run());
  private idleRounds = 0;

  constructor(
    private readonly config: Config,
    private readonly events: ReplayEvents,
    private readonly signal: DeliverySignal,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start(IDLE_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /**
   * @returns seconds until the next poll. After the last step of a replay, polls stay frequent for a while, because
   *   another replay may be waiting for its turn
   */
  private async run(): Promise<number> {
    try {
      const step = await this.events.step();
      if (step && step.endpointIds.length > 0) this.signal.notify(step.endpointIds);
      this.idleRounds = step ? 0 : this.idleRounds + 1;
    } catch (err) {
      this.logger.warn({ event: 'webhook.replay_failed', err });
      return IDLE_S;
    }
    return this.idleRounds * BUSY_S > IDLE_S ? IDLE_S : BUSY_S;
  }
}
