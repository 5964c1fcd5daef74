import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ApiKeyHook } from '../auth/api-keys/api-key-hook.ts';
import { ApiKeysService } from '../auth/api-keys/api-keys.service.ts';
import { countEarlierSpending } from './sql/count-earlier-spending.ts';

/** Makes a new budget count what its key has spent before. */
export const USAGE_HOOK: ApiKeyHook = {
  afterBudget: async (tx, apiKeyId, isNew) => {
    if (isNew) await countEarlierSpending(tx, apiKeyId);
  },
};

@Injectable()
export class KeySpending implements OnModuleInit {
  constructor(private readonly apiKeys: ApiKeysService) {}

  onModuleInit(): void {
    this.apiKeys.registerHook(USAGE_HOOK);
  }
}
