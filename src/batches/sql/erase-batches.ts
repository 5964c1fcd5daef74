import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import type { Statement } from '../../platform/database/sql.ts';

/** The most batches that one statement deletes. Each may hold the texts of its invalid items. */
const BATCHES = 500;

const DELETE: Statement = {
  name: 'batches.erase',
  text: `
    delete from batches where id = any(array(select id from batches where api_key_id = $1 order by id limit ${BATCHES}))`,
};

/**
 * Erases the batches of an API key, including unfinished ones. The erasure of tasks cancels the unfinished items. Raw
 * SQL because each statement deletes a bounded number of batches.
 */
@Injectable()
export class EraseBatches implements OnModuleInit {
  constructor(private readonly steps: ErasureSteps) {}

  onModuleInit(): void {
    this.steps.register('batches', async (work) => {
      await work.repeat(async (tx) => {
        const batches = (await tx.query({ ...DELETE, values: [work.apiKeyId] })).rowCount ?? 0;
        return { erased: { batches }, mayBeMore: batches === BATCHES };
      });
      return 'done';
    });
  }
}
