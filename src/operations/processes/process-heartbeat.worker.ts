import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { hostname } from 'node:os';
import { SERVICE } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { RunningTasks } from '../../generation/run/running-tasks.ts';
import { TaskClaimer } from '../../generation/run/task-claimer.ts';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import type { OperatorLevels } from '../../platform/config/log-levels.ts';
import { overrideLogLevels } from '../../platform/observe/logging/reload-levels.ts';
import { VERSION } from '../../platform/config/version.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import { WORKER_ID } from '../../tasks/record/worker-id.ts';
import type { ProcessActivity } from '../activity/activity.ts';
import { ActivityReporter } from '../activity/activity-reporter.ts';
import { type ProcessReport, ProcessRows } from './sql/process-rows.ts';
import { ALL_PROCESSES, HEARTBEAT_S } from './process-state.ts';
import { ProcessesService } from './processes.service.ts';

/** Renewals between two deletions of lost processes. */
const FORGET_EVERY = 15;
/** Seconds between renewals while a process drains, so that operators soon see the end of its last task. */
const DRAINING_HEARTBEAT_S = 1;
/**
 * The minimum number of milliseconds between reports of the counts. The counts are many times larger than the rest of
 * the row.
 */
const ACTIVITY_EVERY_MS = 10_000;

/**
 * Renews the row of this process, and does what operators have asked of the process. The bus brings a request of an
 * operator at once. Without the bus, the next renewal finds it.
 */
@Injectable()
export class ProcessHeartbeatWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('operations');
  private readonly interval = new Interval(() => this.renew());
  private renewals = 0;
  private drainRequested = false;
  private isDrained = false;
  /** The log levels that operators have set, as JSON. */
  private levels = 'null';
  private reportedMs = -Infinity;

  constructor(
    private readonly config: Config,
    private readonly rows: ProcessRows,
    private readonly claimer: TaskClaimer,
    private readonly running: RunningTasks,
    private readonly providers: ProviderRegistry,
    private readonly processes: ProcessesService,
    private readonly reporter: ActivityReporter,
    private readonly audit: AuditLog,
  ) {}

  onApplicationBootstrap(): void {
    this.processes.onChange((id) => {
      if (id === WORKER_ID || id === ALL_PROCESSES) void this.interval.runNow();
    });
    this.interval.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.interval.stop();
    // Deletes the row. Otherwise operators would see this process as lost.
    await this.rows.leave(WORKER_ID).catch(() => undefined);
  }

  /**
   * Renews the row, and renews it again if an operator has started or ended a drain of this process.
   * @returns seconds until the next renewal
   */
  private async renew(): Promise<number> {
    try {
      let { isIdle } = this;
      const { drain_requested: requested, levels } = await this.rows.renew(await this.report());
      this.followLevels(levels);
      if (requested !== this.drainRequested) {
        this.drainRequested = requested;
        await this.claimer.drain(requested);
        this.logger.log({ event: requested ? 'process.drain_started' : 'process.drain_ended' });
        isIdle = this.isIdle;
        await this.rows.renew(await this.report());
      }
      await this.recordDrained(requested && isIdle);
      if (this.config.role !== 'api' && this.renewals++ % FORGET_EVERY === 0) await this.rows.forgetLost();
    } catch (err) {
      this.logger.warn({ event: 'process.beat_failed', err });
    }
    return this.claimer.isDraining && this.claimer.busy > 0 ? DRAINING_HEARTBEAT_S : HEARTBEAT_S;
  }

  /** Whether the process runs no task and will claim none. */
  private get isIdle(): boolean {
    return this.claimer.isDraining && this.claimer.busy === 0;
  }

  private followLevels(levels: OperatorLevels | null): void {
    const asked = JSON.stringify(levels);
    if (asked === this.levels) return;
    this.levels = asked;
    overrideLogLevels(levels);
    this.reportedMs = -Infinity; // so that the next renewal reports the new levels
  }

  /** @param isDrained whether an operator has asked for a drain and the last renewal reported no running task */
  private async recordDrained(isDrained: boolean): Promise<void> {
    if (isDrained === this.isDrained) return;
    if (isDrained) {
      await this.audit.transaction(SERVICE, (_, record) =>
        record({
          action: 'process.drained',
          target: { type: 'process', id: WORKER_ID },
          before: null,
          after: { busy: 0 },
        }),
      );
    }
    this.isDrained = isDrained;
  }

  private async activity(): Promise<ProcessActivity | null> {
    const now = performance.now();
    if (now - this.reportedMs < ACTIVITY_EVERY_MS) return null;
    this.reportedMs = now;
    return this.reporter.report();
  }

  private async report(): Promise<ProcessReport> {
    const { role, workerConcurrency } = this.config;
    return {
      id: WORKER_ID,
      role,
      version: VERSION,
      host: hostname(),
      uptime_s: process.uptime(),
      slots: role === 'api' ? 0 : workerConcurrency,
      busy: this.claimer.busy,
      drain_requested: this.drainRequested,
      draining: this.claimer.isDraining,
      lease_margin_s: this.running.leaseMarginS,
      circuits: this.providers.places.map(({ number, name, circuit }) => ({
        place: number,
        provider: name,
        open: circuit.isOpen,
        failures: circuit.failuresInARow,
      })),
      activity: await this.activity(),
    };
  }
}
