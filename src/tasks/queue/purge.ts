import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Interval } from '../../platform/interval.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { DAY_S } from '../../platform/time.ts';
import { PURGE_ROWS, PurgeTasks } from '../sql/purge-tasks.ts';

/** Between looks that found little. Retention is kept to the second by what is shown; this only frees the space. */
const PURGE_EVERY_S = 60;

/** Deletes what retention has ended: files first, so that a crash in between leaves a note to come back, not an orphan. */
@Injectable()
export class Purge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('purge');
  private readonly repeat = new Interval(() => this.runOnce());

  constructor(
    private readonly config: Config,
    private readonly purges: PurgeTasks,
    private readonly storage: Storage,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.repeat.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.repeat.stop();
  }

  private async runOnce(): Promise<number> {
    try {
      return (await this.purge()) >= PURGE_ROWS ? 0 : Math.min(PURGE_EVERY_S, this.retentionS() / 2);
    } catch (error) {
      this.logger.warn({ event: 'purge.failed', cause: (error as Error).message });
      return PURGE_EVERY_S;
    }
  }

  /** @returns how much the fullest look found */
  private async purge(): Promise<number> {
    const stale = await this.purges.withExpiredFiles();
    for (const taskId of stale) await this.storage.deleteAll(`${taskId}/`);
    if (stale.length > 0) await this.purges.filesGone(stale);

    const expired = await this.purges.expired();
    for (const taskId of expired) await this.storage.deleteAll(`${taskId}/`);
    if (expired.length > 0) await this.purges.delete(expired);

    await this.purges.forgetIdempotencyKeys();
    if (stale.length + expired.length > 0) {
      this.logger.log({ event: 'purge.done', files_of: stale.length, tasks: expired.length });
    }
    return Math.max(stale.length, expired.length);
  }

  private retentionS(): number {
    return this.config.fileRetentionDays * DAY_S;
  }
}
