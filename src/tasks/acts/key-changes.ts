import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ApiKeyHook } from '../../auth/api-keys/api-key-hook.ts';
import { ApiKeysService } from '../../auth/api-keys/api-keys.service.ts';
import { endQueuedTasks, setLimits } from '../sql/end-queued-tasks.ts';
import { countUnfinished, recountReservations } from '../sql/recount-reservations.ts';

/** What happens to the tasks of an API key when the key changes. */
export const TASKS_HOOK: ApiKeyHook = {
  onRevoke: endQueuedTasks,
  beforeBudget: countUnfinished,
  afterBudget: recountReservations,
  onLimits: setLimits,
};

@Injectable()
export class KeyChanges implements OnModuleInit {
  constructor(private readonly apiKeys: ApiKeysService) {}

  onModuleInit(): void {
    this.apiKeys.registerHook(TASKS_HOOK);
  }
}
