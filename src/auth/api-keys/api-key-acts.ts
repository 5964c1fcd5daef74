import { type Scope, SCOPES } from '../access/caller.ts';
import type { ApiKeyLimits, LimitChanges } from '../limits/api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';

/** The scopes of a key that is created without a list of scopes. They give access only to what the key itself owns. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => !/^(keys|operations):/.test(scope));

export interface NewApiKey {
  name: string;
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
  limits?: ApiKeyLimits;
  /** null: every model without `access: listed`. */
  models?: string[] | null;
  /** The key that creates this one. */
  createdBy?: string | undefined;
}

/** A missing field stays unchanged. */
export interface ApiKeyChanges {
  name?: string;
  scopes?: readonly Scope[];
  /**
   * The value null removes one limit. null instead of the object removes all limits. The configured limits then apply.
   */
  limits?: LimitChanges | null;
  /** null: every model without `access: listed`. */
  models?: string[] | null;
  /** null: never. */
  expiresAt?: Date | null;
}

/** A key right after creation or rotation, the only time its plain text is available. */
export interface IssuedApiKey {
  apiKey: ApiKey;
  key: string;
}
