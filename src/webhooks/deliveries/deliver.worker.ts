import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../platform/config.ts';
import { Batch } from '../../platform/database/batch.ts';
import type { ClaimedDispatch } from '../sql/claim-dispatches.ts';
import type { FinishedDelivery } from '../sql/finish-deliveries.ts';
import { TurnDeliveries } from '../sql/turn-deliveries.ts';
import { Attempt } from './attempt.ts';
import { DeliverySignal } from './delivery-signal.ts';

/** Attempts at once in this process: they wait for other people's servers, at some 100 kB of TLS each. */
const MAX_UNDER_WAY = 500;
/** Of these at endpoints that fail, so that any number of dead ones leaves room for the living. */
const MAX_PROBES = 250;
/** Tries to write down how an attempt went; past them its lease lapses, and it is made again. */
const FINISH_TRIES = 4;
const FINISH_PAUSE_MS = 500;

/**
 * Makes the attempts, turn by turn: while one turn is on its way to the database, what ends and what is rung for gathers for
 * the next. The endpoint of an attempt that ended is looked at again, until nothing is due.
 */
@Injectable()
export class DeliverWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly turns = new Batch<FinishedDelivery | string, void>((items) => this.turn(items));
  private readonly underWay = new Set<Promise<void>>();
  private readonly aborting = new AbortController();
  private turning: Promise<unknown> = Promise.resolve();
  private probes = 0;
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly config: Config,
    private readonly bell: DeliverySignal,
    private readonly acts: TurnDeliveries,
    private readonly attempt: Attempt,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.bell.subscribe((endpointIds) => this.poll(endpointIds));
  }

  /** Begins what is due for these endpoints, as far as there are places; what finds none, a later look finds. */
  poll(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) {
      this.turns.add(id).catch((error: Error) => {
        this.logger.warn({ event: 'webhook.look_failed', endpoint_id: id, cause: error.message });
      });
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Begins nothing more; what is under way gets the grace period, and is then handed over. */
  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  private async end(): Promise<void> {
    const graceMs = this.config.shutdownGraceS * 1000;
    const grace = setTimeout(() => this.aborting.abort(new Error('the process stops')), graceMs);
    await this.turning; // what it takes is under way then
    while (this.underWay.size > 0) await Promise.all(this.underWay);
    clearTimeout(grace);
  }

  private async turn(items: (FinishedDelivery | string)[]): Promise<void[]> {
    const finished = items.filter((item) => typeof item !== 'string');
    const endpointIds = items.filter((item) => typeof item === 'string');
    // Those that are being written down now give their places to the next.
    const free = MAX_UNDER_WAY - this.underWay.size + finished.length;
    const turn = this.acts.turn(finished, endpointIds, this.stopped ? 0 : free, MAX_PROBES - this.probes);
    this.turning = turn.catch(() => undefined);
    const claimed = await turn;
    for (const dispatch of claimed) this.launch(dispatch);
    return items.map(() => undefined);
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
        return await this.turns.add(finished);
      } catch (error) {
        if (tries === FINISH_TRIES) throw error;
        await sleep(FINISH_PAUSE_MS * tries);
      }
    }
  }
}
