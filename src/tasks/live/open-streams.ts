import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Scope } from '../../auth/access/caller.ts';
import type { Credential } from '../../auth/credentials/credential.ts';
import { KeyWatch } from '../../auth/credentials/key-watch.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { registerLiveConnections } from '../../platform/observe/measuring/live-connections.ts';
import { Metrics } from '../../platform/observe/measuring/metrics.ts';
import { withJitter } from '../../platform/run/jitter.ts';

/** The most open streams of an API key, in one process. */
const MAX_STREAMS_PER_KEY = 1_000;
/** The most open streams of all keys together, in one process. */
const MAX_STREAMS = 5_000;

export interface OpenQueue {
  close(): void;
  /** @param callback called once when the queue ends for any reason */
  whenClosed(callback: () => void): void;
}

/**
 * The open event streams. They are limited per key and in all. They are closed when their key is revoked or loses a
 * scope that they need, and when the service stops.
 */
@Injectable()
export class OpenStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<OpenQueue>();
  private readonly ofKey = new Map<string, number>();
  /** The number of open streams and of those that are being opened. */
  private total = 0;
  /** Streams that open from now on are closed at once. */
  private isStopping = false;

  constructor(
    private readonly config: Config,
    private readonly keys: KeyWatch,
    metrics: Metrics,
  ) {
    const { open } = this;
    const count = () => open.size;
    registerLiveConnections(metrics, 'sse', { connections: count, subscriptions: count });
  }

  /**
   * Opens the queue of a stream and keeps track of it until it is closed.
   * @param needs the scope whose loss closes the stream; `any`: the loss of any scope that the key has now
   * @throws ApiError rate_limit_exceeded, service_unavailable; the errors of `start`
   */
  async track<Queue extends OpenQueue>(
    credential: Credential,
    start: () => Promise<Queue>,
    needs: Scope | 'any' = 'tasks:read',
  ): Promise<Queue> {
    const stream: { queue?: Queue; isRefused?: true } = {};
    const close = () => {
      stream.isRefused = true;
      stream.queue?.close();
    };
    const { apiKeyId, release } = await this.keys.admit(credential, close, needs === 'any' ? undefined : needs);
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
      if (stream.isRefused || this.isStopping) queue.close();
      return queue;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends the streams; each client resumes its stream at another process. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
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
