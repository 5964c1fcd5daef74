import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { QueueSamples } from './sql/queue-samples.ts';

const MINUTE_S = 60;
/**
 * Seconds into the minute at which a sample is taken. The database says which minute it is, and its clock may be a
 * little behind.
 */
const INTO_MINUTE_S = 2;
/** Seconds until the next attempt, so that a minute whose first attempt fails is not lost. */
const RETRY_S = 10;

/** Runs in every worker process. In each minute, the first process to try stores the counts of the queue. */
@Injectable()
export class QueueSamplerWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('operations');
  private readonly interval = new Interval(() => this.run());

  constructor(
    private readonly config: Config,
    private readonly samples: QueueSamples,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** @returns seconds until the next attempt */
  private async run(): Promise<number> {
    try {
      await this.samples.take();
    } catch (err) {
      this.logger.warn({ event: 'queue.sample_failed', err });
      return RETRY_S;
    }
    return MINUTE_S - ((Date.now() / 1_000 - INTO_MINUTE_S) % MINUTE_S);
  }
}
