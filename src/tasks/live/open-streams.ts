import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { KeyWatch } from '../../auth/key-watch.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config.ts';
import { Metrics } from '../../platform/metrics.ts';
import { withJitter } from '../../platform/jitter.ts';
import type { LiveQueue } from './live-queue.ts';

/** In this process. */
const MAX_STREAMS_PER_KEY = 1_000;

/** The event streams that are open: bounded per key, closed when their key is refused and when the service stops. */
@Injectable()
export class OpenStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<LiveQueue>();
  private readonly ofKey = new Map<string, number>();

  constructor(
    private readonly config: Config,
    private readonly keys: KeyWatch,
    metrics: Metrics,
  ) {
    const { open } = this;
    metrics.registry.registerMetric(
      new Gauge({
        name: 'event_streams_open',
        help: 'Event streams open in this process.',
        registers: [],
        collect() {
          this.set(open.size);
        },
      }),
    );
  }

  /**
   * Opens a stream's queue and keeps an eye on it until it is closed.
   * @throws ApiError rate_limit_exceeded, and whatever `start` throws
   */
  async hold(authorization: string | undefined, start: () => Promise<LiveQueue>): Promise<LiveQueue> {
    const held: { queue?: LiveQueue; isRefused?: true } = {};
    const { apiKeyId, release } = await this.keys.admit(authorization, () => {
      held.isRefused = true;
      held.queue?.close();
    });
    try {
      this.countIn(apiKeyId);
      const queue = await start().catch((error: unknown) => {
        this.countOut(apiKeyId);
        throw error;
      });
      held.queue = queue;
      this.open.add(queue);
      queue.whenClosed(() => {
        this.open.delete(queue);
        this.countOut(apiKeyId);
        release();
      });
      if (held.isRefused) queue.close();
      return queue;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A stream that just ends is taken up again by its client, where it stopped. */
  async beforeApplicationShutdown(): Promise<void> {
    await withJitter([...this.open], this.config.shutdownGraceS, (queue) => queue.close());
  }

  private countIn(apiKeyId: string): void {
    const count = (this.ofKey.get(apiKeyId) ?? 0) + 1;
    if (count > MAX_STREAMS_PER_KEY) {
      throw new ApiError('rate_limit_exceeded', {
        message: `Your key has ${MAX_STREAMS_PER_KEY} event streams open here already, which is its limit.`,
        headers: { 'retry-after': '5' },
      });
    }
    this.ofKey.set(apiKeyId, count);
  }

  private countOut(apiKeyId: string): void {
    const count = (this.ofKey.get(apiKeyId) ?? 0) - 1;
    if (count > 0) this.ofKey.set(apiKeyId, count);
    else this.ofKey.delete(apiKeyId);
  }
}
