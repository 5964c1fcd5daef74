import type { EntityManager } from 'typeorm';
import type { CallerLimits } from '../caller.ts';

/** What a room above writes in the transaction that changes an API key. */
export interface ApiKeyHook {
  /** The key is being revoked, and what it has queued must not run. */
  onRevoke(tx: EntityManager, apiKeyId: string): Promise<void>;
  /** The limits of the key change. */
  onLimits(tx: EntityManager, apiKeyId: string, limits: CallerLimits): Promise<void>;
}
