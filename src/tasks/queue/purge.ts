import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { countPurged } from '../../platform/observe/measuring/purge-metrics.ts';
import { purgeInterval, purgePauseS } from '../../platform/run/purge-interval.ts';
import { deleteEach } from '../../platform/storage/delete-each.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import {
  type ExpiredTask,
  PURGE_COUNTERS,
  PURGE_KEYS,
  PURGE_TASKS,
  PURGE_VERSIONS,
  PurgeRows,
} from '../sql/purge-rows.ts';

/** Seconds between two purges of counters. Each purge reads the counters of every key. */
const PURGE_COUNTERS_EVERY_S = 600;
/** Seconds between two purges of versions of models. There are few versions. */
const PURGE_VERSIONS_EVERY_S = 3600;

/**
 * Deletes what is past its retention. The files of a task are deleted before its record. So a crash in between leaves
 * no file without a record, and the next purge tries again. A task whose files cannot be deleted is reported and passed
 * over.
 */
@Injectable()
export class Purge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('purge');
  private readonly intervals = [
    this.repeat(PURGE_TASKS, this.pauseS(), () => this.purgeTasksAndFiles()),
    this.repeat(PURGE_KEYS, this.pauseS(), () => this.purgeIdempotencyKeys()),
    this.repeat(PURGE_COUNTERS, PURGE_COUNTERS_EVERY_S, () => this.rows.deleteIdleCounters()),
    this.repeat(PURGE_VERSIONS, PURGE_VERSIONS_EVERY_S, () => this.rows.deleteUnnamedVersions()),
  ];

  /**
   * For how many seconds the oldest idempotency key of the last round had been expired; 0 if the round deleted none. A
   * metric shows this number: a query for it would need an index that makes every creation slower.
   */
  idempotencyLagS = 0;

  constructor(
    private readonly config: Config,
    private readonly storage: Storage,
    private readonly rows: PurgeRows,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') for (const interval of this.intervals) interval.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.intervals.map((interval) => interval.stop()));
  }

  private pauseS(): number {
    return Math.min(purgePauseS(this.config.taskSweepS), (this.config.fileRetentionDays * DAY_S) / 2);
  }

  private repeat(fullRound: number, pauseS: number, purge: () => Promise<number>) {
    return purgeInterval({ logger: this.logger, failure: 'purge.failed', fullRound, pauseS, purge });
  }

  /**
   * Purges expired tasks before expired files, so that a task that is past both times is visited once. The two purges
   * do not run at the same time, because each reserves the tasks that it finds.
   */
  private async purgeTasksAndFiles(): Promise<number> {
    const tasks = await this.purgeTasks();
    if (tasks >= PURGE_TASKS) return tasks;
    return this.purgeFiles();
  }

  private async purgeIdempotencyKeys(): Promise<number> {
    const overdue = await this.rows.deleteIdempotencyKeys();
    this.idempotencyLagS = overdue.reduce((longest, each) => Math.max(longest, each), 0);
    countPurged('idempotency_keys', overdue.length);
    return overdue.length;
  }

  private async purgeFiles(): Promise<number> {
    const tasks = await this.rows.takeWithFiles();
    const purged = await this.deleteFilesOf(tasks);
    const expired = new Set(tasks.filter((task) => task.is_expired).map(({ id }) => id));
    const [deleted, kept] = [purged.filter((id) => expired.has(id)), purged.filter((id) => !expired.has(id))];
    if (kept.length > 0) await this.rows.filesPurged(kept);
    if (deleted.length > 0) await this.rows.delete(deleted);
    countPurged('files', purged.length);
    countPurged('tasks', deleted.length);
    if (tasks.length > 0) {
      this.logger.log({ event: 'purge.finished', files_of: purged.length, tasks: deleted.length || undefined });
    }
    return roundSize(tasks, purged);
  }

  private async purgeTasks(): Promise<number> {
    const tasks = await this.rows.takeExpired();
    const purged = await this.deleteFilesOf(tasks);
    if (purged.length > 0) await this.rows.delete(purged);
    countPurged('tasks', purged.length);
    if (tasks.length > 0) this.logger.log({ event: 'purge.finished', tasks: purged.length });
    return roundSize(tasks, purged);
  }

  /** @returns the ids of the tasks that have no files any more */
  private async deleteFilesOf(tasks: ExpiredTask[]): Promise<string[]> {
    const waiting = tasks.filter((task) => !task.files_purged).map(({ id }) => id);
    const purged = tasks.filter((task) => task.files_purged).map(({ id }) => id);
    const failures: { id: string; err: unknown }[] = [];
    await deleteEach(waiting, async (id) => {
      try {
        await this.storage.deleteAll(`${id}/`);
        purged.push(id);
      } catch (err) {
        failures.push({ id, err });
      }
    });
    const [first] = failures;
    if (first) {
      this.logger.warn({ event: 'purge.files_failed', tasks: failures.length, task_id: first.id, err: first.err });
    }
    return purged;
  }
}

/**
 * The number that decides whether the next round follows at once. It is 0 if nothing could be deleted, because the
 * storage is then probably away.
 */
const roundSize = (taken: ExpiredTask[], purged: string[]): number => (purged.length > 0 ? taken.length : 0);
