import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../platform/config.ts';
import { Batch } from '../platform/database/batch.ts';
import { Jobs } from '../platform/jobs/jobs.ts';
import { type ClaimedDispatch, ClaimDispatches } from './acts/claim-dispatches.ts';
import { type FinishedDelivery, FinishDeliveries } from './acts/finish-deliveries.ts';
import { Attempt } from './attempt.ts';
import { deliverJob } from './deliver.job.ts';

/** Attempts at once in this process: they wait for other people's servers, at some 100 kB of TLS each. */
const MAX_UNDER_WAY = 500;
/** Of these at endpoints that fail, so that any number of dead ones leaves room for the living. */
const MAX_PROBES = 250;
/** Tries to write down how an attempt went; past them its lease lapses, and it is made again. */
const FINISH_TRIES = 4;
const FINISH_PAUSE_MS = 500;

/**
 * Makes the attempts. A job only says where to look: it ends when the attempts have begun, so a receiver that hangs holds
 * no place in the queue. When an attempt ends, its endpoint is looked at again, until nothing is due.
 */
@Injectable()
export class DeliverWorker implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly looks = new Batch<string, void>((ids) => this.begin(ids));
  private readonly underWay = new Set<Promise<void>>();
  private readonly aborting = new AbortController();
  private probes = 0;
  /** Endpoints looked at while this process had no place left. */
  private deferred = new Set<string>();
  private draining = false;
  private grace: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: Config,
    private readonly jobs: Jobs,
    private readonly claims: ClaimDispatches,
    private readonly attempt: Attempt,
    private readonly finishes: FinishDeliveries,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(deliverJob, async ({ endpointId }, { draining }) => {
      draining.addEventListener('abort', this.drain); // once, however often it is said
      await this.look(endpointId);
    });
  }

  /** Begins what is due for an endpoint, as far as there are places. */
  look(endpointId: string): Promise<void> {
    return this.looks.add(endpointId);
  }

  onModuleDestroy(): void {
    this.drain();
  }

  async beforeApplicationShutdown(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay);
    clearTimeout(this.grace);
  }

  /** Begins nothing more; what is under way gets the grace period, the same as the jobs, and is then handed over. */
  private readonly drain = (): void => {
    this.draining = true;
    this.grace ??= setTimeout(
      () => this.aborting.abort(new Error('the process stops')),
      this.config.shutdownGraceS * 1000,
    );
  };

  private async begin(endpointIds: string[]): Promise<void[]> {
    const [free, probes] = [MAX_UNDER_WAY - this.underWay.size, MAX_PROBES - this.probes];
    const wanted = [...new Set(endpointIds)];
    if (this.draining) return endpointIds.map(() => undefined); // another process, or the next start, looks
    const claimed = free > 0 ? await this.claims.claim(wanted, free, Math.max(0, probes)) : [];
    const full = claimed.length >= free || claimed.filter(({ probe }) => probe).length >= probes;
    if (full) for (const id of wanted) this.deferred.add(id);
    for (const dispatch of claimed) this.launch(dispatch);
    return endpointIds.map(() => undefined);
  }

  private launch(dispatch: ClaimedDispatch): void {
    if (dispatch.probe) this.probes += 1;
    const attempt = this.deliver(dispatch)
      .catch((error: Error) => {
        const { event_id, endpoint_id } = dispatch;
        this.logger.error({ event: 'webhook.attempt_lost', event_id, endpoint_id, err: error });
      })
      .finally(() => {
        this.underWay.delete(attempt);
        if (dispatch.probe) this.probes -= 1;
        this.lookAgain(dispatch.endpoint_id);
      });
    this.underWay.add(attempt);
  }

  private async deliver(dispatch: ClaimedDispatch): Promise<void> {
    const finished = await this.attempt.make(dispatch, this.aborting.signal);
    await this.finish(finished);
    const { event_id, endpoint_id, attempt, outcome, status_code, error, duration_ms } = finished;
    this.logger.log({
      event: 'webhook.attempt',
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
        return await this.finishes.finish(finished);
      } catch (error) {
        if (tries === FINISH_TRIES) throw error;
        await sleep(FINISH_PAUSE_MS * tries);
      }
    }
  }

  private lookAgain(endpointId: string): void {
    const ids = this.deferred.add(endpointId);
    this.deferred = new Set();
    for (const id of ids) this.look(id).catch(() => undefined); // the sweep looks too
  }
}
