import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { isBatchId } from '../../tasks/record/task-id.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { type BatchPage, BatchRows } from '../sql/batch-rows.ts';

/** Reads batches for clients. Every call finds only batches of the given API key. */
@Injectable()
export class BatchesService {
  constructor(private readonly rows: BatchRows) {}

  /** @throws ApiError batch_not_found, also for a malformed id and for another API key's batch */
  async find(apiKeyId: string, id: string): Promise<ShownBatch> {
    const batch = isBatchId(id) ? await this.rows.find(id) : null;
    if (batch?.api_key_id !== apiKeyId) throw new ApiError('batch_not_found', { param: 'id' });
    return batch;
  }

  /** Batches, newest first. */
  list(apiKeyId: string, page: BatchPage): Promise<{ batches: ShownBatch[]; hasMore: boolean }> {
    return this.rows.list(apiKeyId, page);
  }
}
