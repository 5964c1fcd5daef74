import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Interval } from '../../platform/interval.ts';
import { SWEEP_ROWS, SweepTasks } from '../sql/sweep-tasks.ts';
import { WakeParked } from '../sql/wake-parked.ts';
import { TaskEnds } from './task-ends.ts';
import { taskError } from '../task-error.ts';

/**
 * Every few seconds, in every process that works: ends what is past its deadline or has lost too many workers, and
 * wakes what is parked although its key has a place. Two sweeps at once do no harm, since every act is guarded by the record.
 */
@Injectable()
export class Sweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('sweep');
  private readonly repeat = new Interval(() => this.runOnce());

  constructor(
    private readonly config: Config,
    private readonly sweeps: SweepTasks,
    private readonly parked: WakeParked,
    private readonly ends: TaskEnds,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.repeat.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.repeat.stop();
  }

  /** @returns seconds until the next look */
  private async runOnce(): Promise<number> {
    try {
      const full = (await this.sweep()) >= SWEEP_ROWS;
      return full ? 0.2 : this.config.taskSweepS;
    } catch (error) {
      this.logger.warn({ event: 'sweep.failed', cause: (error as Error).message });
      // After an absence of the database every lease looks lapsed: let the living renew theirs first.
      return Math.max(this.config.taskSweepS, this.config.taskHeartbeatS + 1);
    }
  }

  private async sweep(): Promise<number> {
    const overdue = await this.sweeps.overdue();
    await Promise.all(
      overdue.map((task) =>
        this.ends.end({
          ...task,
          attempt: null,
          outcome: { status: 'failed', error: taskError('task_deadline_exceeded') },
        }),
      ),
    );
    const wornOut = await this.sweeps.wornOut();
    await Promise.all(
      wornOut.map((task) =>
        this.ends.end({ ...task, lapsed: true, outcome: { status: 'failed', error: taskError('worker_lost') } }),
      ),
    );
    const keys = await this.sweeps.keysWithParked();
    if (keys.length > 0) await this.parked.wake(keys);
    if (overdue.length + wornOut.length > 0) {
      this.logger.log({ event: 'sweep.found', overdue: overdue.length, worker_lost: wornOut.length });
    }
    return Math.max(overdue.length, wornOut.length);
  }
}
