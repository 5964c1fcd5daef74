import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import type { ErasureWork } from '../../auth/erasure/erasure-work.ts';
import { deleteEach } from '../../platform/storage/delete-each.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { EraseUploadRows } from '../sql/erase-uploads.ts';

/**
 * Erases the uploads of an API key: rows, then bytes, then the rows of the bytes. Waits for no client: an upload whose
 * bytes are still being written finds no row at its end, and the purge deletes bytes that arrive later through a link
 * to a bucket.
 */
@Injectable()
export class EraseUploads implements OnModuleInit {
  constructor(
    private readonly steps: ErasureSteps,
    private readonly rows: EraseUploadRows,
    private readonly storage: Storage,
  ) {}

  onModuleInit(): void {
    this.steps.register('uploads', (work) => this.erase(work));
  }

  private async erase(work: ErasureWork): Promise<'done'> {
    await work.repeat((tx) => this.rows.delete(tx, work.apiKeyId));
    for (let keys = await this.rows.doomed(work.apiKeyId); keys.length > 0;) {
      await deleteEach(keys, (key) => this.storage.delete(key));
      const deleted = keys;
      await work.commit((tx) => this.rows.deleteDoomed(tx, deleted));
      keys = await this.rows.doomed(work.apiKeyId);
    }
    await this.storage.deleteAll(`uploads/${work.apiKeyId}/`);
    await work.commit((tx) => this.rows.deleteSum(tx, work.apiKeyId));
    return 'done';
  }
}
