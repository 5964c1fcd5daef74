import { Injectable, Logger } from '@nestjs/common';
import { isEnded } from '../record/batch-status.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { BatchesService } from '../read/batches.service.ts';
import { BatchRows } from '../sql/batch-rows.ts';
import { BatchEndsWorker } from './batch-ends.worker.ts';

@Injectable()
export class CancelBatches {
  private readonly logger = new Logger('batches');

  constructor(
    private readonly batches: BatchesService,
    private readonly rows: BatchRows,
    private readonly ends: BatchEndsWorker,
  ) {}

  /**
   * Cancels the unfinished items. A batch that has ended stays unchanged.
   * @throws ApiError batch_not_found
   */
  async cancel(apiKeyId: string, id: string): Promise<ShownBatch> {
    const batch = await this.batches.find(apiKeyId, id);
    if (isEnded(batch.status)) return batch;
    await this.rows.startCancelling(id);
    // From here on, the sweep finishes the cancel if this request fails.
    await this.ends
      .cancel(id)
      .catch((err: unknown) => this.logger.warn({ event: 'batch.cancel_unfinished', batch_id: id, err }));
    return this.batches.find(apiKeyId, id);
  }
}
