import type { EntityManager } from 'typeorm';
import type { CallerLimits } from '../access/caller.ts';
import type { ApiKeyLimits } from '../limits/api-key-limits.ts';

/** What another module writes in the transaction that changes an API key. */
export interface ApiKeyHook {
  /** The keys are being revoked, or were revoked lately. The tasks that they have queued must not run. */
  onRevoke?(tx: EntityManager, apiKeyIds: string[]): Promise<void>;
  /** The limits of the key change. `limits`: the new limits in force. `own`: the new limits set on the key. */
  onLimits?(tx: EntityManager, apiKeyId: string, limits: CallerLimits, own: ApiKeyLimits): Promise<void>;
  /** The key has no budget and is about to get one. Its limits have not changed yet. */
  beforeBudget?(tx: EntityManager, apiKeyId: string): Promise<void>;
  /**
   * The key has a budget now, and its row is locked. `isNew`: the key had none before, so the cost of its unfinished tasks
   * is not reserved yet.
   */
  afterBudget?(tx: EntityManager, apiKeyId: string, isNew: boolean): Promise<void>;
}
