import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../platform/config/config.ts';
import { Batch } from '../../platform/database/batch.ts';
import type { ClaimedDispatch } from '../sql/claim-dispatches.ts';
import { FinishAndClaim } from '../sql/finish-and-claim.ts';
import type { FinishedDelivery } from '../sql/finish-deliveries.ts';
import { Attempt } from './attempt.ts';
import { DeliverySignal } from './delivery-signal.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import { CALL_BUCKETS, WORK_BUCKETS } from '../../platform/observe/measuring/buckets.ts';
import { counter, histogram } from '../../platform/observe/measuring/declare.ts';

/**
 * The maximum number of attempts in flight in one process. They mostly wait for remote servers, and each takes some 100
 * kB of TLS state.
 */
const MAX_IN_FLIGHT = 500;
/**
 * The maximum number of attempts in flight at failing endpoints, so that any number of dead endpoints leaves capacity
 * for healthy ones.
 */
const MAX_PROBES = 250;
/**
 * Once this many attempts at healthy endpoints are in flight, an endpoint with an attempt in flight gets no further
 * one. So slow endpoints delay others only when there are hundreds of them.
 */
const CROWDED = 250;
/** Once this process has so many attempts in flight, only healthy endpoints without an attempt in flight get one. */
const FULL_FOR_PROBES = 400;
/** The maximum number of tries to record a result. After the last one the lease lapses, and another attempt is made. */
const FINISH_TRIES = 4;
const FINISH_PAUSE_MS = 500;
/**
 * The minimum number of milliseconds between two batches, because the statements of a batch cost PostgreSQL as much as
 * ten rows more.
 */
const MIN_INTERVAL_MS = 3;

/**
 * Claims attempts in batches, makes them, and records them in batches. While the database works on one batch, finished
 * attempts and signalled endpoints collect for the next. The record of a finished attempt also claims the next attempts
 * at its endpoint.
 */
@Injectable()
export class DeliverWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly batches = new Batch<FinishedDelivery | string, void>((items) => this.flush(items), {
    name: 'webhooks.finish',
    minIntervalMs: MIN_INTERVAL_MS,
  });
  private readonly inFlight = new Set<Promise<void>>();
  private readonly abort = new AbortController();
  private flushing: Promise<unknown> = Promise.resolve();
  private probes = 0;
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly config: Config,
    private readonly signal: DeliverySignal,
    private readonly statements: FinishAndClaim,
    private readonly attempt: Attempt,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.signal.subscribe((endpointIds) => this.poll(endpointIds));
  }

  /** Starts the attempts that are due at these endpoints, as far as capacity allows. A later poll finds the rest. */
  poll(endpointIds: Iterable<string>): void {
    if (this.stopped) return;
    for (const id of endpointIds) {
      this.batches.add(id).catch((error: unknown) => {
        this.logger.warn({ event: 'webhook.poll_failed', endpoint_id: id, err: error });
      });
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /**
   * Starts no further attempts. Attempts in flight may finish within the grace period. Other workers repeat the
   * attempts that do not finish.
   */
  stop(): Promise<void> {
    this.stopped ??= this.drain();
    return this.stopped;
  }

  private async drain(): Promise<void> {
    const graceMs = this.config.shutdownGraceS * 1000;
    const grace = setTimeout(() => this.abort.abort(new Error('the process stops')), graceMs);
    await this.flushing; // afterwards all claimed attempts are in flight
    while (this.inFlight.size > 0) await Promise.all(this.inFlight);
    clearTimeout(grace);
  }

  private async flush(items: (FinishedDelivery | string)[]): Promise<void[]> {
    const finished = items.filter((item) => typeof item !== 'string');
    const endpointIds = items.filter((item) => typeof item === 'string');
    // The finished attempts of this batch no longer count, so that the batch can claim as many new ones.
    const used = this.inFlight.size - finished.length;
    const flush = this.statements.run(finished, endpointIds, {
      free: this.stopped ? 0 : MAX_IN_FLIGHT - used,
      probes: MAX_PROBES - this.probes,
      further: Math.min(CROWDED - (used - this.probes), FULL_FOR_PROBES - used),
      withProbes: FULL_FOR_PROBES - used,
    });
    this.flushing = flush.catch(() => undefined);
    for (const dispatch of await flush) this.launch(dispatch);
    return items.map(() => undefined);
  }

  private launch(dispatch: ClaimedDispatch): void {
    if (dispatch.probe) this.probes += 1;
    const delivery = this.deliver(dispatch)
      .catch((error: unknown) => {
        const { event_id, endpoint_id } = dispatch;
        this.logger.error({ event: 'webhook.attempt_lost', event_id, endpoint_id, err: error });
      })
      .finally(() => {
        this.inFlight.delete(delivery);
        if (dispatch.probe) this.probes -= 1;
      });
    this.inFlight.add(delivery);
  }

  private async deliver(dispatch: ClaimedDispatch): Promise<void> {
    attemptBegun(dispatch);
    const finished = await inAttemptSpan(dispatch, () => this.attempt.make(dispatch, this.abort.signal));
    attemptEnded(finished);
    await this.finish(finished);
    const { event_id, endpoint_id, attempt, outcome, status_code, error, duration_ms } = finished;
    this.logger.log({
      event: 'webhook.attempted',
      event_id,
      endpoint_id,
      attempt,
      outcome,
      status: status_code,
      error,
      ms: duration_ms,
    });
  }

  private async finish(finished: FinishedDelivery): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.batches.add(finished);
      } catch (error) {
        if (tries === FINISH_TRIES) throw error;
        await sleep(FINISH_PAUSE_MS * tries);
      }
    }
  }
}

/**
 * The span of one attempt. The first attempt continues the trace of the request that created the task. Other attempts
 * may come days later, so each has a trace of its own, with a link to the first trace. The URL belongs to a customer,
 * so it is no attribute of the span, and the request has no traceparent.
 */
function inAttemptSpan(
  { trace_parent: creation, event_id, attempt, trigger }: ClaimedDispatch,
  make: () => Promise<FinishedDelivery>,
): Promise<FinishedDelivery> {
  const isFirst = attempt === 1 && trigger !== 'manual';
  const options = {
    kind: 'client' as const,
    ...(isFirst || creation === null ? { parent: creation } : { isRoot: true, links: [creation] }),
    attributes: { 'darkroom.event.id': event_id, 'darkroom.attempt': attempt },
  };
  return traces.span('webhook attempt', options, async (span) => {
    const finished = await make();
    span?.set({ 'darkroom.outcome': finished.outcome, 'http.response.status_code': finished.status_code });
    if (finished.error !== null) span?.fail(finished.error);
    return finished;
  });
}

const attempts = counter(
  'darkroom_webhook_attempts_total',
  'Attempts to deliver an event. A lost one was cut when its process stopped, and is repeated.',
  ['outcome', 'error_type', 'trigger'],
);

const seconds = histogram('darkroom_webhook_attempt_seconds', 'Time of one attempt.', CALL_BUCKETS, ['outcome']);

const lag = histogram(
  'darkroom_webhook_lag_seconds',
  'Time from an event, such as the end of a task, to the first attempt to deliver it, by the clock of the database.',
  WORK_BUCKETS,
);

function attemptBegun({ attempt, trigger, lag_s }: ClaimedDispatch): void {
  if (attempt === 1 && trigger === 'scheduled') lag.observe(Math.max(0, lag_s));
}

function attemptEnded({ outcome, error, trigger, duration_ms }: FinishedDelivery): void {
  attempts.inc({ outcome, trigger, ...(error !== null && { error_type: error }) });
  seconds.observe({ outcome }, duration_ms / 1000);
}
