import { Injectable, Logger } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import { isBatchId } from '../tasks/task-id.ts';
import { isEnded } from './batch-status.ts';
import type { ShownBatch } from './batch.entity.ts';
import { BatchEnds } from './end/batch-ends.worker.ts';
import { type BatchPage, BatchRows } from './sql/batch-rows.ts';

/** The batches of an API key as clients use them. Every call is bound to the key. */
@Injectable()
export class BatchesService {
  private readonly logger = new Logger('batches');

  constructor(
    private readonly rows: BatchRows,
    private readonly ends: BatchEnds,
  ) {}

  /** @throws ApiError batch_not_found, also for a malformed id and for another API key's batch */
  async find(apiKeyId: string, id: string): Promise<ShownBatch> {
    const batch = isBatchId(id) ? await this.rows.find(id) : null;
    if (batch?.api_key_id !== apiKeyId) throw new ApiError('batch_not_found', { param: 'id' });
    return batch;
  }

  /** Newest first. */
  list(apiKeyId: string, page: BatchPage): Promise<{ batches: ShownBatch[]; hasMore: boolean }> {
    return this.rows.list(apiKeyId, page);
  }

  /**
   * Cancels the unfinished items. A batch that has ended stays unchanged.
   * @throws ApiError batch_not_found
   */
  async cancel(apiKeyId: string, id: string): Promise<ShownBatch> {
    const batch = await this.find(apiKeyId, id);
    if (isEnded(batch.status)) return batch;
    await this.rows.startCancelling(id);
    // From here on the sweep finishes what this request cannot.
    await this.ends
      .cancel(id)
      .catch((err: unknown) => this.logger.warn({ event: 'batch.cancel_unfinished', batch_id: id, err }));
    return this.find(apiKeyId, id);
  }
}
