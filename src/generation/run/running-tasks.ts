import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import type { StopReason } from '../../providers/provider.ts';
import type { ClaimedTask, LeaseRef } from '../../tasks/queue/lease.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import { isFinal } from '../../tasks/task-status.ts';
import type { ShownTask } from '../../tasks/task.entity.ts';

/** This process's lease on one task, and how to stop its run. */
export interface Lease extends LeaseRef {
  readonly signal: AbortSignal;
  /** A paid call is in flight and its job, if there is one, has no known id yet. */
  isCalling: boolean;
  stop(reason: StopReason): void;
  /** Call when a write reports that the lease no longer holds: reads why, and stops the run for that reason. */
  whyRevoked(): Promise<LeaseLost>;
}

/** The lease no longer holds. The run must stop and write nothing more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** setTimeout takes a signed 32-bit number of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The tasks that this process runs. One heartbeat renews all their leases, the feed reports a cancel at once, and a timer
 * enforces the deadline. A task whose lease the heartbeat no longer finds is stopped: another worker has it.
 */
@Injectable()
export class RunningTasks implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('running');
  private readonly leases = new Map<string, Lease>();
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: Config,
    private readonly queue: TaskQueue,
  ) {}

  onModuleInit(): void {
    this.queue.onStandstill(() => void this.renewAll());
    this.heartbeat = setInterval(() => void this.renewAll(), this.config.taskHeartbeatS * 1000).unref();
  }

  /**
   * Calls `work` and keeps the task's lease until it settles.
   * @param shutdown aborts when this process must give up its unfinished tasks
   */
  async run(task: ClaimedTask, shutdown: AbortSignal, work: (lease: Lease) => Promise<void>): Promise<void> {
    const lease = this.leaseOn(task);
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

  private leaseOn({ id, attempt }: ClaimedTask): Lease {
    const controller = new AbortController();
    const { signal } = controller;
    signal.addEventListener('abort', () => {
      if (signal.reason === ('lease_lost' satisfies StopReason))
        this.logger.warn({ event: 'lease.lost', task_id: id, attempt });
    });
    const lease: Lease = {
      id,
      attempt,
      signal,
      isCalling: false,
      stop: (reason) => controller.abort(reason),
      whyRevoked: async () => {
        lease.stop(await this.revocationReason(lease));
        return new LeaseLost(`Claim ${attempt} no longer holds task ${id}.`);
      },
    };
    return lease;
  }

  private async renewAll(): Promise<void> {
    const leases = [...this.leases.values()];
    if (leases.length === 0) return;
    let kept: Set<string>;
    try {
      kept = await this.queue.renew(leases);
    } catch (err) {
      // The database is down. The first renewal after the outage shows which leases are lost; every write is fenced anyway.
      this.logger.warn({ event: 'lease.renewal_failed', err });
      return;
    }
    for (const lease of leases) {
      if (!kept.has(lease.id) && this.leases.get(lease.id) === lease) void lease.whyRevoked();
    }
  }

  /** Reads the task, because the event of a cancel may be late or lost, and the upstream job must be cancelled anyway. */
  private async revocationReason(lease: Lease): Promise<StopReason> {
    const task = await this.queue.read(lease.id).catch(() => null);
    return (task && stopReasonIn(task, lease)) ?? 'lease_lost';
  }
}

/** When a later claim ended the task, that is not a reason to cancel the upstream job: the later claim took the job over. */
function stopReasonIn({ attempt, status }: ShownTask, lease: Lease): StopReason | null {
  if (attempt > lease.attempt) return 'lease_lost';
  return isFinal(status) ? 'ended' : null;
}
