import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { KeyWatch } from '../../auth/key-watch.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config.ts';
import { Metrics } from '../../platform/metrics.ts';
import { withJitter } from '../../platform/jitter.ts';
import type { LiveQueue } from './live-queue.ts';

/** Per process. */
const MAX_STREAMS_PER_KEY = 1_000;
/** Of all keys together, per process. */
const MAX_STREAMS = 5_000;

/** The open event streams: limited per key and in all, closed when their key is revoked and when the service stops. */
@Injectable()
export class OpenStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<LiveQueue>();
  private readonly ofKey = new Map<string, number>();
  /** Also those that are being opened. */
  private total = 0;

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
   * Opens the queue of a stream and keeps track of it until it is closed.
   * @throws ApiError rate_limit_exceeded, service_unavailable; the errors of `start`
   */
  async track(authorization: string | undefined, start: () => Promise<LiveQueue>): Promise<LiveQueue> {
    const stream: { queue?: LiveQueue; isRefused?: true } = {};
    const { apiKeyId, release } = await this.keys.admit(authorization, () => {
      stream.isRefused = true;
      stream.queue?.close();
    });
    try {
      this.increment(apiKeyId);
      const queue = await start().catch((error: unknown) => {
        this.decrement(apiKeyId);
        throw error;
      });
      stream.queue = queue;
      this.open.add(queue);
      queue.whenClosed(() => {
        this.open.delete(queue);
        this.decrement(apiKeyId);
        release();
      });
      if (stream.isRefused) queue.close();
      return queue;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends the streams; each client resumes its stream at another process. */
  async beforeApplicationShutdown(): Promise<void> {
    await withJitter([...this.open], this.config.shutdownGraceS, (queue) => queue.close());
  }

  private increment(apiKeyId: string): void {
    if (this.total >= MAX_STREAMS) {
      const message = 'The service has too many open event streams; try again.';
      throw new ApiError('service_unavailable', { message, retryAfterS: 5 });
    }
    const count = (this.ofKey.get(apiKeyId) ?? 0) + 1;
    if (count > MAX_STREAMS_PER_KEY) {
      throw new ApiError('rate_limit_exceeded', {
        message: `This API key has ${MAX_STREAMS_PER_KEY} open event streams in this process, which is the limit.`,
        retryAfterS: 5,
      });
    }
    this.ofKey.set(apiKeyId, count);
    this.total += 1;
  }

  private decrement(apiKeyId: string): void {
    this.total -= 1;
    const count = (this.ofKey.get(apiKeyId) ?? 0) - 1;
    if (count > 0) this.ofKey.set(apiKeyId, count);
    else this.ofKey.delete(apiKeyId);
  }
}
