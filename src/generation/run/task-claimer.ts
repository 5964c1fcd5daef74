import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../../errors/database-away.ts';
import { Config } from '../../platform/config/config.ts';
import { Metrics } from '../../platform/observe/measuring/metrics.ts';
import { currentRequest, outsideOfRequests } from '../../platform/observe/logging/request-context.ts';
import { Readiness } from '../../platform/run/readiness.ts';
import type { Claim, ClaimedTask } from '../../tasks/record/lease.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import { RunTask } from './run-task.ts';
import { removeAbandonedScratch } from '../../platform/run/scratch.ts';
import { type Slot, Slots, RESERVED_PART } from './slots.ts';
import { createHash } from 'node:crypto';
import { parseTraceparent, toTraceparent } from '../../platform/observe/traces/traceparent.ts';
import { traces } from '../../platform/observe/traces/traces.ts';

/**
 * The least time between two claims of a worker, because the fixed cost of a claim in PostgreSQL is as high as that of
 * ten claimed rows.
 */
const MIN_INTERVAL_MS = 5;
/**
 * The least time between claims that may fill reserved slots. Without this limit, each task of a busy key would cause a
 * claim that finds no task of another key.
 */
const RESERVED_CLAIM_MS = 100;

/** Keeps a least time between the claims of a process. A claim waits only if it would come too early. */
export class ClaimIntervals {
  /**
   * When the next claim may be made, on the monotonic clock. `nextReservedMs` is for claims that may fill reserved
   * slots.
   */
  private nextMs = 0;
  private nextReservedMs = 0;

  /** Milliseconds until the next claim; 0 if it may be made now. */
  get leftMs(): number {
    return Math.max(0, this.nextMs - performance.now());
  }

  /** Call after each claim. */
  begin(): void {
    this.nextMs = performance.now() + MIN_INTERVAL_MS;
  }

  /**
   * @returns milliseconds until a claim may fill reserved slots; 0 if the caller may make it now, which begins the next
   *   interval
   */
  beginReserved(): number {
    const nowMs = performance.now();
    if (nowMs < this.nextReservedMs) return this.nextReservedMs - nowMs;
    this.nextReservedMs = nowMs + RESERVED_CLAIM_MS;
    return 0;
  }
}

/**
 * Runs `work` in a span of the trace in which the task was created, or of a new trace if that one is unknown. The id of
 * the span is derived from the task and the attempt. So the next claim of the task can link to the span, even if this
 * process is dead by then.
 */
function inClaimSpan(task: ClaimedTask, work: () => Promise<void>): Promise<void> {
  const created = traces.isOn ? parseTraceparent(task.trace_parent) : null;
  if (!created) return traces.span('generate', { parent: null }, work);
  const { id, attempt, model } = task;
  const { traceId } = created;
  const before = { traceId, spanId: spanIdOf(id, attempt - 1) };
  const options = {
    kind: 'consumer' as const,
    parent: task.trace_parent,
    spanId: spanIdOf(id, attempt),
    links: attempt > 1 ? [toTraceparent(before)] : [],
    attributes: { 'darkroom.task.id': id, 'darkroom.attempt': attempt, 'gen_ai.request.model': model },
  };
  return traces.span(`generate ${model}`, options, async (span) => {
    try {
      await work();
    } finally {
      span?.set({ 'darkroom.provider': task.provider });
    }
  });
}

const spanIdOf = (taskId: string, attempt: number): string =>
  createHash('sha256').update(`${taskId} ${attempt}`).digest('hex').slice(0, 16);

/** The interval between polls without a wake-up: no event announces an expired lease, and a wake-up may be lost. */
export const POLL_MS = 500;
/** Most tasks per claim. */
const MAX_CLAIM = 200;
/** How long a shutdown waits for the tasks that it has stopped. Then it abandons them. */
const SETTLE_MS = 5_000;

/**
 * Claims waiting tasks, at most as many as this process has free slots. Wake-ups and slots that become free while a
 * claim is in flight are batched into the next claim.
 */
@Injectable()
export class TaskClaimer implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('claimer');
  private readonly running = new Set<Promise<void>>();
  private readonly shutdown = new AbortController();
  private readonly reserved: number;
  private timer: NodeJS.Timeout | undefined;
  private reservedTimer: NodeJS.Timeout | undefined;
  private readonly intervals = new ClaimIntervals();
  private claiming: Promise<void> | null = null;
  private pollAgain = false;
  /** Whether there may be waiting tasks for which the last claim had no slot. */
  private isBehind = false;
  private stopped: Promise<void> | null = null;
  /** When claims may include expired leases, on the monotonic clock. */
  private includeExpiredFromMs = 0;
  private lastClaimSucceeded = true;
  private isPaused = false;

  constructor(
    private readonly config: Config,
    private readonly queue: TaskQueue,
    private readonly runs: RunTask,
    private readonly readiness: Readiness,
    private readonly slots: Slots,
    private readonly metrics: Metrics,
  ) {
    const { workerConcurrency } = config;
    this.reserved = workerConcurrency === 1 ? 0 : Math.max(1, Math.floor(workerConcurrency / RESERVED_PART));
  }

  onModuleInit(): void {
    if (this.config.role !== 'api') this.registerMetrics();
    this.readiness.register('queue', async () => {
      if (!this.lastClaimSucceeded) throw new Error('The last claim of waiting tasks failed.');
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role === 'api') return;
    await removeAbandonedScratch();
    this.queue.subscribe(() => this.poll());
    // The poll claims tasks of other requests, so it runs outside the context of the request whose task has left its
    // slot.
    this.slots.onFree(() => {
      if (this.isBehind) outsideOfRequests(() => this.poll());
    });
    this.timer = setInterval(() => this.poll(), POLL_MS).unref();
    this.poll();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /**
   * Stops claiming, lets running tasks go on for the grace period, then releases the unfinished ones to other workers.
   */
  stop(graceMs: number = this.config.shutdownGraceS * 1000): Promise<void> {
    this.stopped ??= this.giveUp(graceMs);
    return this.stopped;
  }

  private registerMetrics(): void {
    this.metrics.gauges('darkroom_worker_slots', 'Slots of WORKER_CONCURRENCY in this process.', ['state'], (set) => {
      set({ state: 'busy' }, this.config.workerConcurrency - this.slots.free);
      set({ state: 'free' }, this.slots.free);
    });
    this.metrics.gauge('darkroom_worker_draining', 'Is 1 once this process claims no further tasks.', () =>
      this.isDraining ? 1 : 0,
    );
  }

  /** Tasks that run in this process, including those that only poll their provider. */
  get busy(): number {
    return this.running.size;
  }

  /**
   * Whether this process claims nothing more: an operator drains it, or it is about to stop. Such a process would have
   * to hand over a new task half-way, so it leaves new tasks to other processes.
   */
  get isDraining(): boolean {
    return this.isPaused || this.stopped !== null || this.readiness.isDraining;
  }

  /**
   * `true` stops claiming, and `false` resumes it. Running tasks go on to their end.
   * @returns after `true`, when no claim is in flight any more
   */
  async drain(on: boolean): Promise<void> {
    this.isPaused = on;
    if (on) await this.claiming;
    else if (this.config.role !== 'api') this.poll();
  }

  private async giveUp(graceMs: number): Promise<void> {
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
    await Promise.race([Promise.all(this.running), timeUp]);
    over.abort();
  }

  private poll(): void {
    this.pollAgain = true;
    if (this.isDraining || this.claiming) return;
    this.claiming = this.claimAll().finally(() => {
      this.claiming = null;
      if (this.pollAgain) this.poll(); // requested after the loop had decided to end
    });
  }

  private async claimAll(): Promise<void> {
    while (this.pollAgain && !this.isDraining) {
      if (this.intervals.leftMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, this.intervals.leftMs));
        continue; // checks again, because the process may drain by now
      }
      this.pollAgain = false;
      const { free } = this.slots;
      const isReserved = free <= this.reserved;
      this.isBehind = isReserved;
      if (free <= 0) return; // the next slot to become free polls again
      if (isReserved && this.isTooEarly()) return;
      const { tasks, full } = await (isReserved
        ? this.claim(free, this.slots.keys)
        : this.claim(free - this.reserved, null));
      this.intervals.begin();
      for (const task of tasks) this.run(task);
      this.isBehind ||= full || !this.lastClaimSucceeded;
      if (full) this.pollAgain = true;
    }
  }

  /** Whether a claim may not fill reserved slots yet. If so, polls again when a claim may. */
  private isTooEarly(): boolean {
    const waitMs = this.intervals.beginReserved();
    if (waitMs === 0) return false;
    this.reservedTimer ??= setTimeout(() => {
      this.reservedTimer = undefined;
      this.poll();
    }, waitMs).unref();
    return true;
  }

  private async claim(slots: number, exceptKeys: string[] | null): Promise<Claim> {
    const limit = Math.min(slots, MAX_CLAIM);
    try {
      const claim = await this.queue.claim(limit, performance.now() >= this.includeExpiredFromMs, exceptKeys);
      this.lastClaimSucceeded = true;
      return claim;
    } catch (err) {
      this.lastClaimSucceeded = false;
      this.logger.warn({ event: 'claim.failed', err });
      if (isDatabaseAway(err)) {
        // After the outage every lease may look expired: let live workers renew theirs first.
        this.includeExpiredFromMs = performance.now() + (this.config.taskHeartbeatS + 1) * 1000;
      }
      return { tasks: [], full: false };
    }
  }

  private run(task: ClaimedTask): void {
    const slot = this.slots.take(task.api_key_id);
    const run = currentRequest
      .run(task.request_id === null ? undefined : { id: task.request_id }, () =>
        inClaimSpan(task, () => this.work(task, slot)),
      )
      .finally(() => {
        this.running.delete(run);
        slot.leave();
      });
    this.running.add(run);
  }

  private async work(task: ClaimedTask, slot: Slot): Promise<void> {
    try {
      await this.runs.run(task, slot, this.shutdown.signal);
    } catch (err) {
      this.logger.error({ event: 'task.work_failed', task_id: task.id, err });
    }
  }
}
