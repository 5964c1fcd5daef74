import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, IsNull, LessThan, Repository } from 'typeorm';
import { typeidUnboxed } from 'typeid-js';
import { ApiError } from '../../errors/api-error.ts';
import { Secrets } from '../../platform/secrets.ts';
import { Authenticator } from '../authenticator.ts';
import { type Caller, type Scope, SCOPES } from '../caller.ts';
import { hintOf, newApiKey } from './api-key-format.ts';
import type { ApiKeyLimits } from './api-key-limits.ts';
import { ApiKeySecret } from './api-key-secret.entity.ts';
import { ApiKey } from './api-key.entity.ts';
import { hashOf } from './key-hash.ts';

/** The scopes of a key created without any: all but `keys:manage`. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'keys:manage');

const ID = /^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export interface NewApiKey {
  name: string;
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
  limits?: ApiKeyLimits;
}

/** A key right after creation or rotation, the only time its plain text is available. */
export interface IssuedApiKey {
  apiKey: ApiKey;
  key: string;
}

/** Creates, lists, rotates and revokes API keys. A revoked key stays as the owner of its tasks, but is no longer shown. */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly secrets: Secrets,
    private readonly authenticator: Authenticator,
  ) {}

  /**
   * @param by the caller; null: the operator
   * @throws ApiError insufficient_scope when `by` lacks one of the scopes; value_out_of_range for an expiry in the past
   */
  create(input: NewApiKey, by: Caller | null): Promise<IssuedApiKey> {
    const scopes = input.scopes ?? DEFAULT_SCOPES;
    assertMayGrant(by, scopes);
    return this.apiKeys.manager.transaction((tx) => this.issue(tx, { ...input, scopes }, newApiKey()));
  }

  /** Stores the given key in the caller's transaction. */
  async issue(tx: EntityManager, input: NewApiKey & { scopes: readonly Scope[] }, key: string): Promise<IssuedApiKey> {
    const id = typeidUnboxed('key');
    await tx.insert(ApiKey, {
      id,
      name: input.name,
      hint: hintOf(key),
      scopes: SCOPES.filter((scope) => input.scopes.includes(scope)),
      limits: input.limits ?? {},
      created_at: () => 'now()',
      expires_at: input.expiresAt ?? null,
    });
    await this.addSecret(tx, id, key);
    const apiKey = await tx.findOneByOrFail(ApiKey, { id });
    if (apiKey.expires_at && apiKey.expires_at <= apiKey.created_at) {
      throw new ApiError('value_out_of_range', { param: 'expires_at', message: 'expires_at must be in the future.' });
    }
    return { apiKey, key };
  }

  /**
   * Newest first.
   * @param after the last id of the previous page
   */
  async list(page: { limit: number; after?: string }): Promise<{ apiKeys: ApiKey[]; hasMore: boolean }> {
    const apiKeys = await this.apiKeys.find({
      where: { revoked_at: IsNull(), ...(page.after !== undefined && { id: LessThan(page.after) }) },
      order: { id: 'desc' },
      take: page.limit + 1,
    });
    return { apiKeys: apiKeys.slice(0, page.limit), hasMore: apiKeys.length > page.limit };
  }

  /** @throws ApiError api_key_not_found: unknown, malformed or revoked */
  async find(id: string): Promise<ApiKey> {
    return (await this.findUnrevoked(this.apiKeys, id)) ?? notFound();
  }

  /**
   * Gives the key a new secret. The id, the scopes and everything the key owns stay. All older secrets expire after at most
   * `overlapHours`.
   * @throws ApiError api_key_not_found; insufficient_scope when `by` lacks one of the key's scopes
   */
  async rotate(id: string, { overlapHours }: { overlapHours: number }, by: Caller | null): Promise<IssuedApiKey> {
    const key = newApiKey();
    const apiKey = await this.apiKeys.manager.transaction(async (tx) => {
      const found = (await this.findUnrevoked(tx.getRepository(ApiKey), id, 'pessimistic_write')) ?? notFound();
      assertMayGrant(by, found.scopes);
      await this.expireSecrets(tx, id, overlapHours);
      await this.addSecret(tx, id, key);
      await tx.update(ApiKey, { id }, { hint: hintOf(key) });
      return tx.findOneByOrFail(ApiKey, { id });
    });
    this.authenticator.forget([id]);
    return { apiKey, key };
  }

  /** @throws ApiError api_key_not_found, also for a second revocation */
  async revoke(id: string): Promise<void> {
    if (!ID.test(id)) notFound();
    const revoked = await this.apiKeys.update({ id, revoked_at: IsNull() }, { revoked_at: () => 'now()' });
    if (revoked.affected === 0) notFound();
    this.authenticator.forget([id]);
  }

  private async addSecret(tx: EntityManager, apiKeyId: string, key: string): Promise<void> {
    const hash = hashOf(key, this.secrets);
    await tx.insert(ApiKeySecret, { hash, api_key_id: apiKeyId, created_at: () => 'now()' });
  }

  /**
   * Expired secrets are kept for ever. Bootstrap recognises a BOOTSTRAP_API_KEY that was rotated away by its hash, and without
   * the hash the next start would issue that key again, with every scope. A row takes about 100 bytes.
   */
  private async expireSecrets(tx: EntityManager, apiKeyId: string, overlapHours: number): Promise<void> {
    await tx
      .createQueryBuilder()
      .update(ApiKeySecret)
      .set({ expires_at: () => `least(expires_at, now() + :overlapHours * interval '1 hour')` })
      .where({ api_key_id: apiKeyId })
      .setParameter('overlapHours', overlapHours)
      .execute();
  }

  private async findUnrevoked(
    apiKeys: Repository<ApiKey>,
    id: string,
    mode?: 'pessimistic_write',
  ): Promise<ApiKey | null> {
    if (!ID.test(id)) return null;
    return apiKeys.findOne({ where: { id, revoked_at: IsNull() }, ...(mode && { lock: { mode } }) });
  }
}

/** A key can only grant scopes that it has itself. Otherwise `keys:manage` alone would imply every scope. */
function assertMayGrant(by: Caller | null, scopes: readonly Scope[]): void {
  const missing = by ? scopes.filter((scope) => !by.scopes.includes(scope)) : [];
  if (missing.length === 0) return;
  throw new ApiError('insufficient_scope', {
    message: `This API key lacks ${missing.map((scope) => `"${scope}"`).join(', ')}, so it cannot grant such a key.`,
  });
}

function notFound(): never {
  throw new ApiError('api_key_not_found');
}
