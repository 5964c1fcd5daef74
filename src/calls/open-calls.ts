import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Gauge } from 'prom-client';
import { ApiError } from '../errors/api-error.ts';
import { Metrics } from '../platform/observe/measuring/metrics.ts';

/**
 * The most waiting calls of a process. A waiting call holds a connection and a few objects, but no body. It does not
 * count among the 10,000 requests in flight, so it takes no capacity from other requests.
 */
const MAX_CALLS = 5_000;
/**
 * The most waiting calls of one API key in a process. So one key takes at most a tenth of MAX_CALLS. By default a key
 * runs only 50 tasks at once.
 */
const MAX_CALLS_PER_KEY = 500;

/**
 * The number of listeners of a response above which Node warns, instead of ten. Each resource of a call has a listener
 * that releases it.
 */
const MAX_LISTENERS = 20;

/** The requests of this process that wait for the outcome of a task. */
@Injectable()
export class OpenCalls implements BeforeApplicationShutdown {
  private readonly open = new Set<AbortController>();
  private readonly ofKey = new Map<string, number>();
  private isStopping = false;

  constructor(metrics: Metrics) {
    const gauge: Gauge = new Gauge({
      name: 'darkroom_calls_waiting',
      help: 'Requests of this process that wait for the outcome of a task to answer with it.',
      registers: [metrics.registry],
      collect: () => gauge.set(this.open.size),
    });
  }

  /**
   * Admits a call until its response is closed.
   * @returns a signal that aborts when the service stops: then answer the call at once
   * @throws ApiError rate_limit_exceeded, service_unavailable
   */
  admit(apiKeyId: string, reply: FastifyReply): AbortSignal {
    const count = this.ofKey.get(apiKeyId) ?? 0;
    if (count >= MAX_CALLS_PER_KEY) {
      throw new ApiError('rate_limit_exceeded', {
        message: `At most ${MAX_CALLS_PER_KEY} calls of an API key may wait for their results at once. Create tasks with POST /v1/generations instead.`,
        retryAfterS: 5,
      });
    }
    if (this.isStopping || this.open.size >= MAX_CALLS) {
      throw new ApiError('service_unavailable', { message: 'Too many calls wait for their results; try again.' });
    }
    const controller = new AbortController();
    this.open.add(controller);
    this.ofKey.set(apiKeyId, count + 1);
    reply.raw.setMaxListeners(Math.max(reply.raw.getMaxListeners(), MAX_LISTENERS));
    reply.raw.once('close', () => this.leave(apiKeyId, controller));
    if (reply.raw.destroyed) this.leave(apiKeyId, controller);
    return controller.signal;
  }

  endAll(): void {
    this.isStopping = true;
    for (const controller of this.open) controller.abort();
  }

  beforeApplicationShutdown(): void {
    this.endAll();
  }

  private leave(apiKeyId: string, controller: AbortController): void {
    if (!this.open.delete(controller)) return;
    const count = (this.ofKey.get(apiKeyId) ?? 0) - 1;
    if (count > 0) this.ofKey.set(apiKeyId, count);
    else this.ofKey.delete(apiKeyId);
  }
}
