import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { readStorageMarker, writeStorageMarker } from './storage-marker.ts';
import { Storage } from './storage.ts';
import { StorageMarker } from './storage-marker.entity.ts';

/**
 * Checks whether the storage is the one that this database was used with before. It seems to be another one if hosts do
 * not share DATA_DIR or a bucket, if a volume was not mounted, or if a rule of the bucket deletes objects. In each case
 * files seem to be lost.
 */
@Injectable()
export class StorageCheck implements OnApplicationBootstrap {
  private readonly logger = new Logger('storage');

  constructor(
    private readonly storage: Storage,
    @InjectRepository(StorageMarker) private readonly markers: Repository<StorageMarker>,
  ) {}

  /** Not awaited: a storage that does not respond must not delay the start, and readiness reports such a storage. */
  onApplicationBootstrap(): void {
    void this.warnOfAnother();
  }

  private async warnOfAnother(): Promise<void> {
    try {
      if (await this.isKnown()) return;
      const msg =
        'The storage lacks the marker of this database, so it is not the storage that was used before. Links to earlier ' +
        'files return 500. Check DATA_DIR, STORAGE_URL and mounted volumes. After an intended change, run ' +
        '"update storage_marker set written_at = null" and restart.';
      this.logger.warn({ event: 'storage.changed', msg });
    } catch (error) {
      this.logger.warn({ event: 'storage.check_failed', err: error });
    }
  }

  /**
   * Whether the storage has the marker of this database. Writes the marker if no process has written it. Several
   * processes may do so at once, because they all write the same marker.
   */
  async isKnown(): Promise<boolean> {
    const [marker] = await this.markers.find();
    if (!marker) throw new Error('The table storage_marker is empty.');
    if (marker.written_at !== null) return (await readStorageMarker(this.storage)) === marker.id;
    await writeStorageMarker(this.storage, marker.id);
    await this.markers.update({ id: marker.id, written_at: IsNull() }, { written_at: () => 'now()' });
    return true;
  }
}
