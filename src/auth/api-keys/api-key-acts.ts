import { type Scope, SCOPES } from '../access/caller.ts';
import type { ApiKeyLimits, LimitChanges } from '../limits/api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';

/** The scopes of a key created without any: none that reaches beyond the key itself. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => !/^(keys|operations):/.test(scope));

export interface NewApiKey {
  name: string;
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
  limits?: ApiKeyLimits;
  /** null: every open one. */
  models?: string[] | null;
  /** The key that makes it. */
  createdBy?: string | undefined;
}

/** A missing field stays unchanged. */
export interface ApiKeyChanges {
  name?: string;
  scopes?: readonly Scope[];
  /** null removes one limit of the key, or all of them; the configured ones then apply. */
  limits?: LimitChanges | null;
  /** null: every open one. */
  models?: string[] | null;
  /** null: never. */
  expiresAt?: Date | null;
}

/** A key right after creation or rotation, the only time its plain text is available. */
export interface IssuedApiKey {
  apiKey: ApiKey;
  key: string;
}
