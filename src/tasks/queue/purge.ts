import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Config } from '../../platform/config.ts';
import { Interval } from '../../platform/interval.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { DAY_S } from '../../platform/time.ts';
import { IdempotencyKey } from '../idempotency-key.entity.ts';
import { inThePast } from '../sql/database-time.ts';
import { Task } from '../task.entity.ts';

/** Seconds between purges that found little. Views enforce retention to the second; the purge only frees the space. */
const PURGE_EVERY_S = 60;
/** Tasks per query. */
const PURGE_ROWS = 200;

/** Deletes what is past its retention. Files go first, so a crash in between leaves a record to retry, not orphaned files. */
@Injectable()
export class Purge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('purge');
  private readonly interval = new Interval(() => this.runOnce());

  constructor(
    private readonly config: Config,
    private readonly storage: Storage,
    @InjectRepository(Task) private readonly tasks: Repository<Task>,
    @InjectRepository(IdempotencyKey) private readonly idempotencyKeys: Repository<IdempotencyKey>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.interval.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  private async runOnce(): Promise<number> {
    try {
      return (await this.purge()) >= PURGE_ROWS ? 0 : Math.min(PURGE_EVERY_S, this.retentionS() / 2);
    } catch (err) {
      this.logger.warn({ event: 'purge.failed', err });
      return PURGE_EVERY_S;
    }
  }

  /** @returns the length of the longest result, at most PURGE_ROWS */
  private async purge(): Promise<number> {
    const withExpiredFiles = await this.withExpiredFiles();
    for (const id of withExpiredFiles) await this.storage.deleteAll(`${id}/`);
    if (withExpiredFiles.length > 0) await this.tasks.update({ id: In(withExpiredFiles) }, { files_purged: true });

    const expired = await this.expired();
    for (const id of expired) await this.storage.deleteAll(`${id}/`);
    if (expired.length > 0) await this.tasks.delete({ id: In(expired) });

    await this.deleteExpiredIdempotencyKeys();
    if (withExpiredFiles.length + expired.length > 0) {
      this.logger.log({ event: 'purge.finished', files_of: withExpiredFiles.length, tasks: expired.length });
    }
    return Math.max(withExpiredFiles.length, expired.length);
  }

  private async withExpiredFiles(): Promise<string[]> {
    const tasks = await this.tasks.find({
      select: { id: true },
      where: { files_purged: false, files_expire_at: inThePast() },
      order: { files_expire_at: 'ASC' },
      take: PURGE_ROWS,
    });
    return tasks.map(({ id }) => id);
  }

  private async expired(): Promise<string[]> {
    const tasks = await this.tasks.find({
      select: { id: true },
      where: { status: In(['succeeded', 'failed']), expires_at: inThePast() },
      order: { expires_at: 'ASC' },
      take: PURGE_ROWS,
    });
    return tasks.map(({ id }) => id);
  }

  private async deleteExpiredIdempotencyKeys(): Promise<void> {
    const expired = this.idempotencyKeys
      .createQueryBuilder('expired')
      .select(['expired.api_key_id', 'expired.key'])
      .where('expired.expires_at < now()')
      .limit(PURGE_ROWS * 10);
    await this.idempotencyKeys
      .createQueryBuilder()
      .delete()
      .where(`(api_key_id, key) in (${expired.getQuery()})`)
      .execute();
  }

  private retentionS(): number {
    return this.config.fileRetentionDays * DAY_S;
  }
}
