import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { purgeInterval } from '../../platform/run/purge-interval.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import { TaskBatches } from '../../tasks/acts/task-batches.ts';
import { EventRecorder } from '../../webhooks/events/event-recorder.ts';
import { BatchViews } from '../record/batch-views.ts';
import { EndBatches, PURGE_BATCHES } from '../sql/end-batches.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';

/** The least milliseconds between two checks of a batch, because a check costs as much as ending several tasks. */
const CHECK_DEBOUNCE_MS = 100;
/** Seconds until the next purge, if the last one deleted fewer than PURGE_BATCHES batches. */
const PURGE_EVERY_S = 60;

/**
 * Ends batches. A process that ends an item checks the batch after the commit, so the end of an item writes nothing to
 * the row of its batch. If two processes end the last two items at the same time, the later check sees both ends. A
 * lock on the batch lets only one check end the batch. The sweep finds batches whose process was killed before its
 * check.
 */
@Injectable()
export class BatchEndsWorker implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('batches');
  /** The batches that are being checked. The value says whether another item has ended since the check began. */
  private readonly checking = new Map<string, boolean>();
  private isStopping = false;
  private readonly intervals = [
    new Interval(() => this.sweep()),
    purgeInterval({
      logger: this.logger,
      failure: 'batch.purge_failed',
      fullRound: PURGE_BATCHES,
      pauseS: PURGE_EVERY_S,
      purge: () => this.rows.purge(),
    }),
  ];

  constructor(
    private readonly config: Config,
    private readonly queue: TaskQueue,
    private readonly tasks: TaskBatches,
    private readonly rows: EndBatches,
    private readonly events: EventRecorder,
    private readonly views: BatchViews,
  ) {}

  onModuleInit(): void {
    this.queue.onEnd(({ batch_id: id }) => {
      if (id !== null) this.checkSoon(id);
    });
    this.tasks.registerPurgeHook((tx, items) => this.rows.countPurged(tx, items));
  }

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') for (const interval of this.intervals) interval.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true; // another process, or the next start, ends the batches that are left
    await Promise.all(this.intervals.map((interval) => interval.stop()));
  }

  /** Ends the batch if all its items are final. */
  async check(id: string): Promise<void> {
    if (await this.rows.hasUnfinished(id)) return;
    const ended = await this.rows.end(id, (tx, batch) =>
      this.events.record(tx, {
        apiKeyId: batch.api_key_id,
        type: 'batch.completed',
        data: this.views.of(batch),
        removedFirst: ['errors', 'metadata'],
        begunAt: batch.created_at,
        createdAt: batch.ended_at!,
        expiresAt: batch.kept_until,
      }),
    );
    if (ended) this.logger.log({ event: 'batch.ended', batch_id: id });
  }

  /** Cancels the unfinished items of a batch, and ends the batch if all its items are then final. */
  async cancel(id: string): Promise<void> {
    await this.tasks.cancel(id);
    await this.check(id);
  }

  private checkSoon(id: string): void {
    if (this.isStopping) return;
    const isChecking = this.checking.has(id);
    this.checking.set(id, isChecking);
    if (!isChecking) void outsideOfRequests(() => this.checkUntilQuiet(id));
  }

  private async checkUntilQuiet(id: string): Promise<void> {
    do {
      this.checking.set(id, false);
      await this.check(id).catch((err: unknown) => this.warn(id, err));
      await sleep(CHECK_DEBOUNCE_MS, undefined, { ref: false });
    } while (this.checking.get(id) && !this.isStopping);
    this.checking.delete(id);
  }

  /** @returns seconds until the next sweep */
  private async sweep(): Promise<number> {
    try {
      for (const { id, status } of await this.rows.leftBehind()) {
        if (this.isStopping) break;
        const done = status === 'cancelling' ? this.cancel(id) : this.check(id);
        await done.catch((err: unknown) => this.warn(id, err)); // the next sweep tries this batch again
      }
    } catch (err) {
      this.logger.warn({ event: 'batch.sweep_failed', err });
    }
    return this.config.taskSweepS;
  }

  private warn(id: string, err: unknown): void {
    this.logger.warn({ event: 'batch.check_failed', batch_id: id, err });
  }
}
