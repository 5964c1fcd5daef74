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
import type { Claim, ClaimedTask } from '../../tasks/queue/lease.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import { GenerateWorker } from './generate.worker.ts';
import { removeAbandonedScratch } from './scratch.ts';

/** Poll even without a wake-up: no event announces an expired lease, and a wake-up may be lost. */
const POLL_MS = 500;
/** Most tasks per claim. */
const MAX_CLAIM = 200;
/** One place in five is reserved for API keys that run nothing in this process, so that no key takes them all. */
const RESERVED_PART = 5;
/** Between claims of reserved places: a busy worker makes them in vain for each of a busy key's tasks. */
const RESERVED_CLAIM_MS = 100;
/** From stopping the running tasks until they are abandoned. */
const SETTLE_MS = 5_000;

/**
 * Claims waiting tasks, as many as this process has free places for. Wake-ups and places that become free while a claim is
 * in flight are batched into the next claim.
 */
@Injectable()
export class TaskClaimer implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('claimer');
  /** The API key of each run. */
  private readonly running = new Map<Promise<void>, string>();
  private readonly shutdown = new AbortController();
  private readonly reserved: number;
  private timer: NodeJS.Timeout | undefined;
  private reservedTimer: NodeJS.Timeout | undefined;
  private nextReservedClaimMs = 0;
  private claiming: Promise<void> | null = null;
  private pollAgain = false;
  private stopped: Promise<void> | null = null;
  /** On the monotonic clock. */
  private includeExpiredFromMs = 0;
  private lastClaimSucceeded = true;

  constructor(
    private readonly config: Config,
    private readonly queue: TaskQueue,
    private readonly worker: GenerateWorker,
    private readonly readiness: Readiness,
  ) {
    const { workerConcurrency } = config;
    this.reserved = workerConcurrency === 1 ? 0 : Math.max(1, Math.floor(workerConcurrency / RESERVED_PART));
  }

  onModuleInit(): void {
    this.readiness.register('queue', async () => {
      if (!this.lastClaimSucceeded) throw new Error('The last claim of waiting tasks failed.');
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role === 'api') return;
    await removeAbandonedScratch();
    this.queue.subscribe(() => this.poll());
    this.timer = setInterval(() => this.poll(), POLL_MS).unref();
    this.poll();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Stops claiming, gives running tasks the grace period, then releases them to other workers. */
  stop(graceMs: number = this.config.shutdownGraceS * 1000): Promise<void> {
    this.stopped ??= this.drain(graceMs);
    return this.stopped;
  }

  private async drain(graceMs: number): Promise<void> {
    clearInterval(this.timer);
    clearTimeout(this.reservedTimer);
    await this.claiming;
    await this.settled(graceMs);
    this.shutdown.abort();
    await this.settled(SETTLE_MS);
  }

  private async settled(withinMs: number): Promise<void> {
    const over = new AbortController();
    const timeUp = sleep(withinMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
    await Promise.race([Promise.all(this.running.keys()), timeUp]);
    over.abort();
  }

  private poll(): void {
    this.pollAgain = true;
    if (this.stopped || this.claiming) return;
    this.claiming = this.claimAll().finally(() => {
      this.claiming = null;
      if (this.pollAgain) this.poll(); // requested after the loop had decided to end
    });
  }

  private async claimAll(): Promise<void> {
    while (this.pollAgain && !this.stopped) {
      this.pollAgain = false;
      const free = this.config.workerConcurrency - this.running.size;
      if (free <= 0) return; // the next task to end polls again
      const isReserved = free <= this.reserved;
      if (isReserved && this.isTooEarly()) return;
      const { tasks, full } = await (isReserved
        ? this.claim(free, [...new Set(this.running.values())])
        : this.claim(free - this.reserved, null));
      for (const task of tasks) this.run(task);
      if (full) this.pollAgain = true;
    }
  }

  /** Throttles the claims of reserved places; polls again when the next one is allowed. */
  private isTooEarly(): boolean {
    const waitMs = this.nextReservedClaimMs - performance.now();
    if (waitMs <= 0) {
      this.nextReservedClaimMs = performance.now() + RESERVED_CLAIM_MS;
      return false;
    }
    this.reservedTimer ??= setTimeout(() => {
      this.reservedTimer = undefined;
      this.poll();
    }, waitMs).unref();
    return true;
  }

  private async claim(places: number, exceptKeys: string[] | null): Promise<Claim> {
    const limit = Math.min(places, MAX_CLAIM);
    try {
      const claim = await this.queue.claim(limit, performance.now() >= this.includeExpiredFromMs, exceptKeys);
      this.lastClaimSucceeded = true;
      return claim;
    } catch (err) {
      this.lastClaimSucceeded = false;
      this.logger.warn({ event: 'claim.failed', err });
      if (isDatabaseAway(err)) {
        // After the outage every lease looks expired: let live workers renew theirs first.
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
    this.running.set(run, task.api_key_id);
  }
}
