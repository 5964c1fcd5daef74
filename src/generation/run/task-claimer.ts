import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../../errors/database-away.ts';
import { Config } from '../../platform/config.ts';
import { Readiness } from '../../platform/readiness.ts';
import { type Claim, type ClaimedTask, ClaimTasks } from '../../tasks/sql/claim-tasks.ts';
import { WakeSignal } from '../../tasks/queue/wake-signal.ts';
import { GenerateWorker } from './generate.worker.ts';
import { removeAbandonedScratch } from './scratch.ts';

/** Without the bell: a lease lapses silently, and the bell may be missed. */
const LOOK_MS = 500;
/** Tasks of one claim. */
const MAX_CLAIM = 200;
/** From telling the running tasks to let go to leaving them behind. */
const SETTLE_MS = 5_000;

/**
 * Takes waiting tasks from the record, as many as this process has places for. While one claim is under way the bell and
 * the places that become free gather for the next.
 */
@Injectable()
export class TaskClaimer implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('dispatcher');
  private readonly running = new Set<Promise<void>>();
  private readonly shutdown = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private claiming: Promise<void> | null = null;
  private pollAgain = false;
  private stopped: Promise<void> | null = null;
  /** On the monotonic clock. */
  private includeExpiredFromMs = 0;
  private isTaking = true;

  constructor(
    private readonly config: Config,
    private readonly claims: ClaimTasks,
    private readonly bell: WakeSignal,
    private readonly worker: GenerateWorker,
    private readonly readiness: Readiness,
  ) {}

  onModuleInit(): void {
    this.readiness.register('queue', async () => {
      if (!this.isTaking) throw new Error('The last claim of waiting tasks failed.');
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role === 'api') return;
    await removeAbandonedScratch();
    this.bell.subscribe(() => this.poll());
    this.timer = setInterval(() => this.poll(), LOOK_MS).unref();
    this.poll();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Takes no more tasks, gives the running ones the grace period, then hands them over. */
  stop(graceMs: number = this.config.shutdownGraceS * 1000): Promise<void> {
    this.stopped ??= this.end(graceMs);
    return this.stopped;
  }

  private async end(graceMs: number): Promise<void> {
    clearInterval(this.timer);
    await this.claiming;
    await this.settled(graceMs);
    this.shutdown.abort();
    await this.settled(SETTLE_MS);
  }

  private async settled(withinMs: number): Promise<void> {
    const over = new AbortController();
    const timeUp = sleep(withinMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
    await Promise.race([Promise.all(this.running), timeUp]);
    over.abort();
  }

  private poll(): void {
    this.pollAgain = true;
    if (this.stopped || this.claiming) return;
    this.claiming = this.claimAll().finally(() => {
      this.claiming = null;
      if (this.pollAgain) this.poll(); // asked for after the last claim had been decided on
    });
  }

  private async claimAll(): Promise<void> {
    while (this.pollAgain && !this.stopped) {
      this.pollAgain = false;
      const places = Math.min(this.config.workerConcurrency - this.running.size, MAX_CLAIM);
      if (places <= 0) return; // the next task to end looks again
      const { tasks, full } = await this.claim(places);
      for (const task of tasks) this.run(task);
      if (full) this.pollAgain = true;
    }
  }

  private async claim(places: number): Promise<Claim> {
    try {
      const claim = await this.claims.claim(places, performance.now() >= this.includeExpiredFromMs);
      this.isTaking = true;
      return claim;
    } catch (error) {
      this.isTaking = false;
      this.logger.warn({ event: 'claim.failed', cause: (error as Error).message });
      if (isDatabaseAway(error)) {
        // When it is back every lease looks lapsed: let the living renew theirs first.
        this.includeExpiredFromMs = performance.now() + (this.config.taskHeartbeatS + 1) * 1000;
      }
      return { tasks: [], full: false };
    }
  }

  private run(task: ClaimedTask): void {
    const run = this.worker
      .work(task, this.shutdown.signal)
      .catch((err: unknown) => this.logger.error({ event: 'task.work_failed', task_id: task.id, err }))
      .finally(() => {
        this.running.delete(run);
        this.poll();
      });
    this.running.add(run);
  }
}
