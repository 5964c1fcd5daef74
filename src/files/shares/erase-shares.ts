import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ErasureSteps } from '../../auth/erasure/erasure-steps.ts';
import { ShareRows } from '../sql/share-rows.ts';

/** Erases the shares of an API key. Nobody can open a share after the revocation of its key. */
@Injectable()
export class EraseShares implements OnModuleInit {
  constructor(
    private readonly steps: ErasureSteps,
    private readonly rows: ShareRows,
  ) {}

  onModuleInit(): void {
    this.steps.register('shares', async (work) => {
      await work.repeat((tx) => this.rows.erase(tx, work.apiKeyId));
      return 'done';
    });
  }
}
