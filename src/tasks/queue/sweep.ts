import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { KeyCounters } from '../record/key-counters.entity.ts';
import { isPast } from '../../platform/database/past.ts';
import { HELD_BY_LIMIT } from '../sql/paused-models.ts';
import { FREE_PLACES } from '../record/free-places.ts';
import { type TaskErrorCode, taskError } from '../record/task-error.ts';
import { LiveTask } from '../record/task.entity.ts';
import type { Ending } from '../record/ending.ts';
import { TaskQueue } from './task-queue.ts';

/** The most rows per query. After a full result the next sweep follows 0.2 s later. */
const SWEEP_ROWS = 500;

/**
 * Runs every few seconds in every worker process. Ends tasks that are past their deadline or have lost too many
 * workers, and wakes parked tasks of keys that may run more. Two sweeps may run at the same time, because every write
 * is guarded by the state of the row. Each query is an index scan of few rows.
 */
@Injectable()
export class Sweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('sweep');
  private readonly interval = new Interval(() => this.runOnce());

  constructor(
    private readonly config: Config,
    private readonly queue: TaskQueue,
    @InjectRepository(LiveTask) private readonly tasks: Repository<LiveTask>,
    @InjectRepository(KeyCounters) private readonly counters: Repository<KeyCounters>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** @returns seconds until the next sweep */
  private async runOnce(): Promise<number> {
    try {
      const full = (await this.sweep()) >= SWEEP_ROWS;
      return full ? 0.2 : this.config.taskSweepS;
    } catch (err) {
      this.logger.warn({ event: 'sweep.failed', err });
      // After a database outage every lease looks expired: let live workers renew theirs first.
      return Math.max(this.config.taskSweepS, this.config.taskHeartbeatS + 1);
    }
  }

  private async sweep(): Promise<number> {
    const overdue = await this.overdue();
    await this.endAll(
      overdue.map(({ id, api_key_id }) => ({ id, api_key_id, attempt: null })),
      'task_deadline_exceeded',
    );
    const workerLost = this.queue.mayTakeOver() ? await this.workerLost() : [];
    await this.endAll(
      workerLost.map(({ id, api_key_id, attempt }) => ({ id, api_key_id, attempt, lapsed: true })),
      'worker_lost',
    );
    const keys = await this.keysWithFreePlaces();
    if (keys.length > 0) await this.queue.wakeThrottled(keys);
    if (overdue.length + workerLost.length > 0) {
      this.logger.log({ event: 'sweep.finished', overdue: overdue.length, worker_lost: workerLost.length });
    }
    return Math.max(overdue.length, workerLost.length);
  }

  private async endAll(tasks: Omit<Ending, 'outcome'>[], code: TaskErrorCode): Promise<void> {
    const outcome: Ending['outcome'] = { status: 'failed', error: taskError(code) };
    const ends = await Promise.allSettled(tasks.map((task) => this.queue.end({ ...task, outcome })));
    const failed = ends.filter((end) => end.status === 'rejected');
    // One end that fails, for example because the row of the API key is locked, must not keep other tasks from ending.
    if (failed.length > 0)
      this.logger.warn({ event: 'sweep.ends_failed', tasks: failed.length, err: failed[0]?.reason });
  }

  private overdue(): Promise<LiveTask[]> {
    return this.tasks.find({
      comment: 'tasks.overdue',
      select: { id: true, api_key_id: true },
      where: { deadline_at: isPast() },
      order: { deadline_at: 'ASC' },
      take: SWEEP_ROWS,
    });
  }

  /** Tasks that have lost the worker of their last allowed attempt. */
  private workerLost(): Promise<LiveTask[]> {
    return this.tasks
      .createQueryBuilder('task')
      .comment('tasks.worn_out')
      .select(['task.id', 'task.api_key_id', 'task.attempt'])
      .where({ lease_until: isPast() })
      .andWhere('task.losses + 1 >= :maxAttempts', { maxAttempts: this.config.taskMaxAttempts })
      .orderBy('task.lease_until')
      .limit(SWEEP_ROWS)
      .getMany();
  }

  /** Keys that have parked tasks although they may run more tasks. */
  private async keysWithFreePlaces(): Promise<string[]> {
    const counters = await this.counters
      .createQueryBuilder('counters')
      .comment('tasks.keys_with_parked')
      .select('counters.api_key_id')
      .where('(counters.queued > 0 or counters.held > 0)')
      .andWhere(`(select ${FREE_PLACES} from key_load l where l.api_key_id = counters.api_key_id) > 0`)
      .andWhereExists(
        this.tasks.createQueryBuilder('task').where(`task.api_key_id = counters.api_key_id and ${HELD_BY_LIMIT}`),
      )
      .limit(SWEEP_ROWS)
      .getMany();
    return counters.map(({ api_key_id }) => api_key_id);
  }
}
