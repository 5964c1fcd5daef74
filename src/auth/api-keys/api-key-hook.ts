import type { EntityManager } from 'typeorm';
import type { CallerLimits } from '../access/caller.ts';
import type { ApiKeyLimits } from '../limits/api-key-limits.ts';

/** The hooks by which another module writes in the transaction that changes an API key. */
export interface ApiKeyHook {
  /** Called when keys are revoked, and again for some time afterwards. Ends the tasks that these keys have queued. */
  onRevoke?(tx: EntityManager, apiKeyIds: string[]): Promise<void>;
  /**
   * Called when the limits of a key change. `limits`: the new limits in force. `own`: the new limits set on the key.
   */
  onLimits?(tx: EntityManager, apiKeyId: string, limits: CallerLimits, own: ApiKeyLimits): Promise<void>;
  /** Called before a key without a budget gets one, and before `onLimits`. */
  beforeBudget?(tx: EntityManager, apiKeyId: string): Promise<void>;
  /**
   * Called after a budget is set for a key. The row of the budget is locked. `isNew`: the key had no budget before, so
   * the cost of its unfinished tasks is not reserved yet.
   */
  afterBudget?(tx: EntityManager, apiKeyId: string, isNew: boolean): Promise<void>;
}
