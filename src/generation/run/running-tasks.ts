import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import type { StopReason } from '../../providers/provider.ts';
import { type LeaseRef, RenewLeases } from '../../tasks/sql/renew-leases.ts';
import type { ClaimedTask } from '../../tasks/sql/claim-tasks.ts';
import { ReadTasks } from '../../tasks/sql/read-tasks.ts';
import type { ShownTask } from '../../tasks/task.entity.ts';
import { TaskFeed } from '../../tasks/live/task-feed.ts';
import { isFinal } from '../../tasks/task-status.ts';

/** The hold of this process on one task, and how its run is told to stop. */
export interface Lease extends LeaseRef {
  readonly signal: AbortSignal;
  /** A paid call is out whose job, should there be one, nobody knows by name yet. */
  isCalling: boolean;
  stop(reason: StopReason): void;
  /** The record did not know this claim any more: stops the run, once it has asked why. */
  whyRevoked(): Promise<LeaseLost>;
}

/** The claim on the task is gone; whoever meets this stops and says nothing more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** setTimeout counts in a signed 32-bit number of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The tasks this process holds: one heartbeat renews all their leases, the feed tells of a cancel at once, a timer of
 * the deadline. A task that the heartbeat does not find any more is let go: its successor has it.
 */
@Injectable()
export class RunningTasks implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('running');
  private readonly held = new Map<string, Lease>();
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: Config,
    private readonly leases: RenewLeases,
    private readonly reads: ReadTasks,
    private readonly feed: TaskFeed,
  ) {}

  onModuleInit(): void {
    this.heartbeat = setInterval(() => void this.beat(), this.config.taskHeartbeatS * 1000).unref();
  }

  /**
   * Runs `work` while holding the task.
   * @param shutdown aborts when this process has to let go of what it could not finish
   */
  async run(task: ClaimedTask, shutdown: AbortSignal, work: (held: Lease) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    signal.addEventListener('abort', () => {
      if (signal.reason === ('lease_lost' satisfies StopReason))
        this.logger.warn({ event: 'lease_lost', task_id: task.id, attempt: task.attempt });
    });
    const held: Lease = {
      id: task.id,
      attempt: task.attempt,
      signal,
      isCalling: false,
      stop: (reason) => controller.abort(reason),
      whyRevoked: async () => {
        held.stop(await this.whyLost(held));
        return new LeaseLost(`Task ${task.id} is not held by claim ${task.attempt} any more.`);
      },
    };
    const stopWatching = this.feed.watch(task.id, (news) => {
      const reason = reasonIn(news, held);
      if (reason) held.stop(reason);
    });
    const remainingMs = Math.min(Math.max(task.remaining_s * 1000, 0), MAX_TIMER_MS);
    const deadline = setTimeout(() => held.stop('deadline'), remainingMs);
    const letGo = () => held.stop('shutdown');
    shutdown.addEventListener('abort', letGo, { once: true });
    this.held.set(task.id, held);
    try {
      await work(held);
    } finally {
      shutdown.removeEventListener('abort', letGo);
      stopWatching();
      clearTimeout(deadline);
      if (this.held.get(task.id) === held) this.held.delete(task.id);
    }
  }

  onApplicationShutdown(): void {
    clearInterval(this.heartbeat);
  }

  private async beat(): Promise<void> {
    const holds = [...this.held.values()];
    if (holds.length === 0) return;
    let kept: Set<string>;
    try {
      kept = await this.leases.renew(holds);
    } catch (error) {
      // The database is away. Whether the lease is lost will be seen when it is back; every write is fenced anyway.
      this.logger.warn({ event: 'lease.renewal_failed', cause: (error as Error).message });
      return;
    }
    for (const held of holds) {
      if (!kept.has(held.id) && this.held.get(held.id) === held) void held.whyRevoked();
    }
  }

  /** The news of a cancel may be late or lost, and then the upstream has to be told all the same. */
  private async whyLost(held: Lease): Promise<StopReason> {
    const task = await this.reads.find(held.id).catch(() => null);
    return (task && reasonIn(task, held)) ?? 'lease_lost';
  }
}

/** A successor's end is no end of ours to tell the upstream of: its job has been taken over, not given up. */
function reasonIn({ attempt, status }: ShownTask, held: Lease): StopReason | null {
  if (attempt > held.attempt) return 'lease_lost';
  return isFinal(status) ? 'ended' : null;
}
