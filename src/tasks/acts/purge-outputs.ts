import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { countPurged } from '../../platform/observe/measuring/purge-metrics.ts';
import { purgeInterval, purgePauseS } from '../../platform/run/purge-interval.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { DatabaseClock } from '../queue/database-clock.ts';
import type { ShownTask, StoredOutput } from '../record/task.entity.ts';
import { LAPSED_TASKS, LapsedOutputs } from '../sql/lapsed-outputs.ts';
import { ReplaceResult } from '../sql/replace-result.ts';
import { deleteBytes } from './delete-output.ts';

/**
 * Deletes the expired outputs of tasks that keep another output. If a task keeps no output, `Purge` deletes all its
 * files together. The bytes are deleted before the record says so. After a crash in between, the next purge tries
 * again.
 */
@Injectable()
export class PurgeOutputs implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('purge');
  private readonly interval = purgeInterval({
    logger: this.logger,
    failure: 'purge.failed',
    fullRound: LAPSED_TASKS,
    pauseS: purgePauseS(this.config.taskSweepS),
    purge: () => this.purge(),
  });

  constructor(
    private readonly config: Config,
    private readonly clock: DatabaseClock,
    private readonly rows: LapsedOutputs,
    private readonly results: ReplaceResult,
    private readonly storage: Storage,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** @returns how many tasks were visited */
  async purge(): Promise<number> {
    const tasks = await this.rows.take();
    for (const task of tasks) {
      await this.purgeOf(task).catch((err: unknown) => {
        this.logger.warn({ event: 'purge.files_failed', tasks: 1, task_id: task.id, err });
      });
    }
    return tasks.length;
  }

  private async purgeOf(task: ShownTask): Promise<void> {
    const { result, kept_at, collection } = task;
    const nowS = this.clock.nowMs() / 1000;
    const lapsed = (result ?? []).filter(({ deleted, expires_at }) => !deleted && expires_at && expires_at <= nowS);
    for (const output of lapsed) await deleteBytes(this.storage, task.id, output);
    const isLapsed = new Set<StoredOutput>(lapsed);
    const left = result?.map((output) => (isLapsed.has(output) ? { ...output, deleted: true } : output)) ?? null;
    await this.results.replace(task, { result: left, kept: kept_at !== null, collection });
    countPurged('files', lapsed.length);
  }
}
