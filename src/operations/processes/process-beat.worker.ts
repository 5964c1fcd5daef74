import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { hostname } from 'node:os';
import { RunningTasks } from '../../generation/run/running-tasks.ts';
import { TaskClaimer } from '../../generation/run/task-claimer.ts';
import { Config } from '../../platform/config.ts';
import { Interval } from '../../platform/interval.ts';
import { VERSION } from '../../platform/version.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import { WORKER_ID } from '../../tasks/queue/worker-id.ts';
import { type ProcessReport, ProcessRows } from '../sql/process-rows.ts';
import { BEAT_S } from './process-state.ts';
import { ProcessesService } from './processes.service.ts';

/** Renewals between two deletions of lost processes. */
const FORGET_EVERY = 15;
/** While it drains, a process also says so when its last task has ended. */
const DRAINING_BEAT_S = 1;

/**
 * Renews the row of this process and does what operators wrote there. The bus makes it quick; without the bus the next renewal
 * finds it.
 */
@Injectable()
export class ProcessBeat implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('operations');
  private readonly interval = new Interval(() => this.beatOnTime());
  private beats = 0;
  private drainRequested = false;
  private isStopped = false;
  private beating: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: Config,
    private readonly rows: ProcessRows,
    private readonly claimer: TaskClaimer,
    private readonly running: RunningTasks,
    private readonly providers: ProviderRegistry,
    private readonly processes: ProcessesService,
  ) {}

  onApplicationBootstrap(): void {
    this.processes.onChange((id) => {
      if (id === WORKER_ID) void this.beatNow();
    });
    this.interval.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await this.interval.stop();
    await this.beating;
    // Otherwise the process would be taken for a lost one.
    await this.rows.leave(WORKER_ID).catch(() => undefined);
  }

  /** Renews the row at once, and again when the row has changed what this process does. */
  beatNow(): Promise<void> {
    this.beating = this.beating.then(() => this.beat());
    return this.beating;
  }

  /** @returns seconds until the next renewal */
  private async beatOnTime(): Promise<number> {
    await this.beatNow();
    return this.claimer.isDraining && this.claimer.busy > 0 ? DRAINING_BEAT_S : BEAT_S;
  }

  private async beat(): Promise<void> {
    if (this.isStopped) return;
    try {
      const requested = await this.rows.beat(this.report());
      if (requested !== this.drainRequested) {
        this.drainRequested = requested;
        await this.claimer.drain(requested);
        this.logger.log({ event: requested ? 'process.drain_started' : 'process.drain_ended' });
        await this.rows.beat(this.report());
      }
      if (this.config.role !== 'api' && this.beats++ % FORGET_EVERY === 0) await this.rows.forgetLost();
    } catch (err) {
      this.logger.warn({ event: 'process.beat_failed', err });
    }
  }

  private report(): ProcessReport {
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
    };
  }
}
