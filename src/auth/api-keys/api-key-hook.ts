import type { EntityManager } from 'typeorm';
import type { CallerLimits } from '../access/caller.ts';
import type { ApiKeyLimits } from '../limits/api-key-limits.ts';

/** What a room above writes in the transaction that changes an API key. */
export interface ApiKeyHook {
  /** The keys are being revoked, and what they have queued must not run. */
  onRevoke?(tx: EntityManager, apiKeyIds: string[]): Promise<void>;
  /** The limits of the key change: those in force, and its own ones. */
  onLimits?(tx: EntityManager, apiKeyId: string, limits: CallerLimits, own: ApiKeyLimits): Promise<void>;
  /** A key that had no budget is about to get one, before its limits change. */
  beforeBudget?(tx: EntityManager, apiKeyId: string): Promise<void>;
  /**
   * The key has got a budget, whose row is locked. `isNew`: it had none before, so its unfinished tasks are not reserved
   * yet.
   */
  afterBudget?(tx: EntityManager, apiKeyId: string, isNew: boolean): Promise<void>;
}
