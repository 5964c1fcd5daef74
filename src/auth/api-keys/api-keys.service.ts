import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull, LessThan } from 'typeorm';
import { typeidUnboxed } from 'typeid-js';
import { ApiError } from '../../errors/api-error.ts';
import { Secrets } from '../../platform/secrets.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { hintOf, newApiKey } from './api-key-format.ts';
import { ApiKeySecret } from './api-key-secret.entity.ts';
import type { ApiKeyLimits } from './api-key-limits.ts';
import { ApiKey } from './api-key.entity.ts';
import { Authenticator } from '../authenticator.ts';
import { type Caller, type Scope, SCOPES } from '../caller.ts';
import { hashOf } from './key-hash.ts';

/** What a key may do when nobody says: everything but managing keys. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'keys:manage');

const isApiKeyId = typeIdTest('key');

export interface NewApiKey {
  name: string;
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
  limits?: ApiKeyLimits;
}

/** The one moment in which a key itself is known. */
export interface IssuedApiKey {
  apiKey: ApiKey;
  key: string;
}

/** Makes, shows, rotates and revokes API keys. A revoked key stays as the tenant of its tasks, but is shown no more. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly secrets: Secrets,
    private readonly authenticator: Authenticator,
  ) {}

  /**
   * @param by who asks; null: the operator
   * @throws ApiError insufficient_scope when `by` would give away a scope it lacks; value_out_of_range for an expiry in the past
   */
  create(wanted: NewApiKey, by: Caller | null): Promise<IssuedApiKey> {
    const scopes = wanted.scopes ?? DEFAULT_SCOPES;
    assertMayGrant(by, scopes);
    return this.dataSource.transaction((tx) => this.issue(tx, { ...wanted, scopes }, newApiKey()));
  }

  /** Stores a given key in the caller's transaction. */
  async issue(tx: EntityManager, wanted: NewApiKey & { scopes: readonly Scope[] }, key: string): Promise<IssuedApiKey> {
    const id = typeidUnboxed('key');
    await tx.insert(ApiKey, {
      id,
      name: wanted.name,
      hint: hintOf(key),
      scopes: SCOPES.filter((scope) => wanted.scopes.includes(scope)),
      limits: wanted.limits ?? {},
      createdAt: () => 'now()',
      expiresAt: wanted.expiresAt ?? null,
    });
    await this.#addSecret(tx, id, key);
    const apiKey = await tx.findOneByOrFail(ApiKey, { id });
    if (apiKey.expiresAt && apiKey.expiresAt <= apiKey.createdAt) {
      throw new ApiError('value_out_of_range', { param: 'expires_at', message: 'expires_at must be in the future.' });
    }
    return { apiKey, key };
  }

  /**
   * Newest first.
   * @param after the id that the page before ended with
   */
  async list(page: { limit: number; after?: string }): Promise<{ apiKeys: ApiKey[]; hasMore: boolean }> {
    const apiKeys = await this.dataSource.manager.find(ApiKey, {
      where: { revokedAt: IsNull(), ...(page.after !== undefined && { id: LessThan(page.after) }) },
      order: { id: 'desc' },
      take: page.limit + 1,
    });
    return { apiKeys: apiKeys.slice(0, page.limit), hasMore: apiKeys.length > page.limit };
  }

  /** @throws ApiError api_key_not_found: unknown, malformed or revoked */
  async find(id: string): Promise<ApiKey> {
    return (await this.#findUnrevoked(this.dataSource.manager, id)) ?? notFound();
  }

  /**
   * Gives the key a new secret; id, scopes and everything it owns stay. The old secret, and any that an earlier rotation
   * left over, works for `overlapHours` more at the most.
   * @throws ApiError api_key_not_found; insufficient_scope when the new secret would let `by` do what it may not
   */
  async rotate(id: string, { overlapHours }: { overlapHours: number }, by: Caller | null): Promise<IssuedApiKey> {
    const key = newApiKey();
    const apiKey = await this.dataSource.transaction(async (tx) => {
      const found = (await this.#findUnrevoked(tx, id, 'pessimistic_write')) ?? notFound();
      assertMayGrant(by, found.scopes);
      await tx.query(
        `update api_key_secrets set expires_at = least(expires_at, now() + $2 * interval '1 hour') where api_key_id = $1`,
        [id, overlapHours],
      );
      // A stale secret is told "expired" for a month, then "unknown"; so rotations do not pile up rows.
      await tx.query(`delete from api_key_secrets where api_key_id = $1 and expires_at < now() - interval '30 days'`, [
        id,
      ]);
      await this.#addSecret(tx, id, key);
      await tx.update(ApiKey, { id }, { hint: hintOf(key) });
      return tx.findOneByOrFail(ApiKey, { id });
    });
    this.authenticator.forget(id);
    return { apiKey, key };
  }

  /** @throws ApiError api_key_not_found, a second revocation included */
  async revoke(id: string): Promise<void> {
    if (!isApiKeyId(id)) notFound();
    const revoked = await this.dataSource.manager.update(
      ApiKey,
      { id, revokedAt: IsNull() },
      { revokedAt: () => 'now()' },
    );
    if (revoked.affected === 0) notFound();
    this.authenticator.forget(id);
  }

  async #addSecret(tx: EntityManager, apiKeyId: string, key: string): Promise<void> {
    await tx.insert(ApiKeySecret, { hash: hashOf(key, this.secrets), apiKeyId, createdAt: () => 'now()' });
  }

  async #findUnrevoked(tx: EntityManager, id: string, mode?: 'pessimistic_write'): Promise<ApiKey | null> {
    if (!isApiKeyId(id)) return null;
    return tx.findOne(ApiKey, { where: { id, revokedAt: IsNull() }, ...(mode && { lock: { mode } }) });
  }
}

/** Nobody hands out more than they have, or `keys:manage` alone would be every scope. */
function assertMayGrant(by: Caller | null, scopes: readonly Scope[]): void {
  const missing = by ? scopes.filter((scope) => !by.scopes.includes(scope)) : [];
  if (missing.length === 0) return;
  throw new ApiError('insufficient_scope', {
    message: `This API key lacks ${missing.map((scope) => `"${scope}"`).join(', ')}, so it may not hand out such a key.`,
  });
}

function notFound(): never {
  throw new ApiError('api_key_not_found');
}
