import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { purgeInterval } from '../../platform/run/purge-interval.ts';
import { removeAbandonedScratch } from '../../platform/run/scratch.ts';
import { deleteEach } from '../../platform/storage/delete-each.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import { ShareRows } from '../sql/share-rows.ts';
import { PURGE_UPLOADS, PurgeUploads } from '../sql/purge-uploads.ts';

/**
 * Seconds between purges. If a purge has deleted as many rows as it may, the next one follows at once. Purges only free
 * the space: requests enforce expiry to the second.
 */
const PURGE_EVERY_S = 60;

/**
 * Deletes expired and deleted uploads with their bytes, and shares that have ended. The rows of uploads go first,
 * because bytes are deleted once nothing refers to them. The row of the bytes goes after the bytes, so a crash in
 * between leaves a row to retry and no orphaned bytes.
 */
@Injectable()
export class UploadPurgeWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('files');
  private readonly interval = purgeInterval({
    logger: this.logger,
    failure: 'upload_purge.failed',
    fullRound: PURGE_UPLOADS,
    pauseS: PURGE_EVERY_S,
    purge: () => this.purge(),
  });

  constructor(
    private readonly config: Config,
    private readonly rows: PurgeUploads,
    private readonly shares: ShareRows,
    private readonly storage: Storage,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await removeAbandonedScratch(); // scratch files of uploads, because a process that runs no tasks has them too
    if (this.config.role !== 'api') this.interval.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.interval.stop();
  }

  /** @returns the number of rows of the largest step. If it is the maximum of a step, there may be more rows */
  async purge(): Promise<number> {
    const shares = await this.shares.purge();
    const uploads = await this.rows.uploads(this.config.uploadRetentionDays * DAY_S);
    const released = await this.rows.doomReleased();
    const doomed = await this.rows.takeDoomed();
    const deleted = await this.deleteBytes(doomed);
    if (deleted.length > 0) await this.rows.deleted(deleted);
    if (uploads + doomed.length > 0) {
      this.logger.log({ event: 'upload_purge.finished', uploads, deleted: deleted.length });
    }
    // Bytes that could not be deleted do not count: the storage is then unavailable, and a round at once would fail
    // too.
    return Math.max(shares, uploads, released, deleted.length);
  }

  private async deleteBytes(keys: string[]): Promise<string[]> {
    const deleted: string[] = [];
    const failures: { key: string; err: unknown }[] = [];
    await deleteEach(keys, async (key) => {
      try {
        await this.storage.delete(key);
        deleted.push(key);
      } catch (err) {
        failures.push({ key, err });
      }
    });
    const [first] = failures;
    if (first)
      this.logger.warn({ event: 'upload_purge.bytes_failed', files: failures.length, key: first.key, err: first.err });
    return deleted;
  }
}
