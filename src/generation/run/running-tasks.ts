import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../platform/config/config.ts';
import { type Clocks, elapsedMs, readClocks } from '../../platform/run/clocks.ts';
import { Metrics } from '../../platform/observe/measuring/metrics.ts';
import type { StopReason } from '../../providers/contract/provider.ts';
import { DatabaseClock } from '../../tasks/queue/database-clock.ts';
import { isFinal, isRestored, type ShownTask } from '../../tasks/record/task.entity.ts';
import type { ClaimedTask, NotedLease } from '../../tasks/record/lease.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import { leaseLost } from '../../tasks/queue/task-metrics.ts';
import { RunMoments } from '../../tasks/record/moment.ts';
import type { Slot } from './slots.ts';
import { isDatabaseAway } from '../../errors/database-away.ts';

/** This process's lease on one task, and how to stop the run of the task. */
export interface Lease extends NotedLease {
  readonly signal: AbortSignal;
  readonly slot: Slot;
  /** false for a task from a restored backup, because a paid call for it may have been made after the backup. */
  readonly mayBuy: boolean;
  /** When the claim or the last renewal of the lease was sent. */
  renewedAt: Clocks;
  /** Whether a paid call is in flight. False again once the id of the call's job is known. */
  isCalling: boolean;
  /** Whether the provider has confirmed that it cancelled the job before the job ran. */
  isCancelledUnrun: boolean;
  stop(reason: StopReason): void;
  /** Reads why the lease no longer holds, and stops the run for that reason. Call when a write reports a lost lease. */
  whyRevoked(foundBy?: 'heartbeat' | 'write'): Promise<LeaseLost>;
  /**
   * Checks that a paid call of the run may still be made. Renews the lease if it was not renewed for two heartbeats:
   * this process may have been frozen, and another worker may have claimed the task. During a shutdown the call is
   * made, because the next claim could not know that it was not.
   * @throws LeaseLost when the lease is lost, or the run was stopped for any other reason
   */
  assertHeld(): Promise<void>;
}

/** The lease no longer holds. The run must stop and write nothing more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** setTimeout takes a signed 32-bit number of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The tasks that this process runs. One heartbeat renews all their leases, an event of the task reports a cancel at
 * once, and a timer enforces the deadline. A task whose lease the heartbeat no longer finds is stopped, because the
 * task is final or another worker has it.
 */
@Injectable()
export class RunningTasks implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('running');
  private readonly leases = new Map<string, Lease>();
  private heartbeat: NodeJS.Timeout | undefined;
  private margin: number | null = null;

  constructor(
    private readonly config: Config,
    private readonly queue: TaskQueue,
    private readonly clock: DatabaseClock,
    private readonly metrics: Metrics,
  ) {}

  /** The least seconds that a lease of this process had left at the last renewal; null before the first renewal. */
  get leaseMarginS(): number | null {
    return this.margin;
  }

  onModuleInit(): void {
    this.metrics.gauge(
      'darkroom_lease_margin_seconds',
      'Least time that was left of a lease of this process at the last renewal; absent before the first.',
      () => this.leaseMarginS,
    );
    this.queue.onStandstill(() => void this.renewAll());
    this.heartbeat = setInterval(() => void this.renewAll(), this.config.taskHeartbeatS * 1000).unref();
  }

  /**
   * Calls `work` and keeps the task's lease until `work` settles.
   * @param shutdown aborts when this process must give up its unfinished tasks
   */
  async run(
    task: ClaimedTask,
    { slot, shutdown }: { slot: Slot; shutdown: AbortSignal },
    work: (lease: Lease) => Promise<void>,
  ): Promise<void> {
    const lease = this.leaseOn(task, slot);
    const unwatch = this.queue.watch(task.id, (change) => {
      const reason = stopReasonIn(change, lease);
      if (reason) lease.stop(reason);
    });
    const remainingMs = Math.min(Math.max(task.remaining_s * 1000, 0), MAX_TIMER_MS);
    const deadline = setTimeout(() => lease.stop('deadline'), remainingMs);
    const stopForShutdown = () => lease.stop('shutdown');
    shutdown.addEventListener('abort', stopForShutdown, { once: true });
    this.leases.set(task.id, lease);
    const letGo = this.queue.hold(task.id);
    try {
      await work(lease);
    } finally {
      shutdown.removeEventListener('abort', stopForShutdown);
      unwatch();
      letGo();
      clearTimeout(deadline);
      if (this.leases.get(task.id) === lease) this.leases.delete(task.id);
    }
  }

  onApplicationShutdown(): void {
    clearInterval(this.heartbeat);
  }

  private leaseOn(task: ClaimedTask, slot: Slot): Lease {
    const { id, attempt } = task;
    const controller = new AbortController();
    const { signal } = controller;
    // `bind` keeps the context of this task, so that the log line has its request id. The heartbeat or the bus aborts
    // the signal, and both run in another context.
    const logLoss = AsyncLocalStorage.bind(() => {
      if (signal.reason === ('lease_lost' satisfies StopReason))
        this.logger.warn({ event: 'lease.lost', task_id: id, attempt });
    });
    signal.addEventListener('abort', logLoss);
    const lost = () => new LeaseLost(`Claim ${attempt} no longer holds task ${id}.`);
    const lease: Lease = {
      id,
      attempt,
      signal,
      slot,
      mayBuy: !isRestored(this.config, task.created_at),
      renewedAt: task.claim_sent,
      moments: new RunMoments(task, () => this.clock.nowMs()),
      isCalling: false,
      isCancelledUnrun: false,
      stop: (reason) => controller.abort(reason),
      whyRevoked: async (foundBy = 'write') => {
        const reason = await this.revocationReason(lease);
        if (reason === 'lease_lost' && !signal.aborted) leaseLost(foundBy);
        lease.stop(reason);
        return lost();
      },
      assertHeld: async () => {
        if (signal.aborted && signal.reason !== ('shutdown' satisfies StopReason)) throw lost();
        if (elapsedMs(lease.renewedAt) < 2 * this.config.taskHeartbeatS * 1000) return;
        const sentAt = readClocks();
        if (!(await this.queue.renew([lease])).has(id)) throw await lease.whyRevoked();
        lease.renewedAt = sentAt;
      },
    };
    return lease;
  }

  private async renewAll(): Promise<void> {
    const leases = [...this.leases.values()];
    if (leases.length === 0) return;
    const sentAt = readClocks();
    let kept: Set<string>;
    try {
      kept = await this.queue.renew(leases);
    } catch (err) {
      // The database cannot be reached. The first renewal after the outage shows which leases are lost. Every write is
      // fenced by its claim anyway.
      this.logger.warn({ event: 'lease.renewal_failed', err });
      return;
    }
    this.noteRenewal(
      leases.filter(({ id }) => kept.has(id)),
      sentAt,
    );
    for (const lease of leases) {
      if (!kept.has(lease.id) && this.leases.get(lease.id) === lease) void lease.whyRevoked('heartbeat');
    }
  }

  private noteRenewal(renewed: Lease[], sentAt: Clocks): void {
    if (renewed.length === 0) return;
    const oldestMs = Math.max(...renewed.map(({ renewedAt }) => elapsedMs(renewedAt)));
    this.margin = this.config.taskLeaseS - oldestMs / 1000;
    for (const lease of renewed) lease.renewedAt = sentAt;
  }

  /**
   * Reads the task, because the event of a cancel may be late or lost, and the upstream job must be cancelled anyway.
   */
  private async revocationReason(lease: Lease): Promise<StopReason> {
    const task = await this.queue.read(lease.id).catch(() => null);
    return (task && stopReasonIn(task, lease)) ?? 'lease_lost';
  }
}

/**
 * Why the lease no longer holds; null if the state of the task does not show it. After `ended` the upstream job is
 * cancelled. After `lease_lost` the job goes on, because the later claim continues it.
 */
function stopReasonIn({ attempt, status }: ShownTask, lease: Lease): StopReason | null {
  if (attempt > lease.attempt) return 'lease_lost';
  return isFinal(status) ? 'ended' : null;
}

const RETRY_MS = 500;

/**
 * Retries a query during a database outage, because a paid call may have been made or the work may be done. Long
 * retries do no harm, because every write is fenced by its claim.
 * @param stillWanted checked before each retry
 * @throws the error of the query, when the query is no longer wanted or the error is not an outage
 */
export async function retryWhileDatabaseDown<Result>(
  stillWanted: () => boolean,
  write: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseAway(error) || !stillWanted()) throw error;
      await sleep(RETRY_MS);
    }
  }
}
