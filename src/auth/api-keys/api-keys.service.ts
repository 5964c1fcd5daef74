import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, IsNull, LessThan, Raw, Repository } from 'typeorm';
import { isAhead, isPast } from '../../platform/database/past.ts';
import { typeidUnboxed } from 'typeid-js';
import { Config } from '../../platform/config/config.ts';
import { Secrets } from '../../platform/config/secrets.ts';
import type { Actor } from '../audit/actor.ts';
import { AuditLog, type RecordAct } from '../audit/audit-log.ts';
import { Authenticator } from '../credentials/authenticator.ts';
import { setBudget } from '../limits/sql/set-budget.ts';
import { type Scope, SCOPES } from '../access/caller.ts';
import { applyLimits, changesBudget } from './apply-limits.ts';
import { hintOf, newApiKey } from '../credentials/api-key-format.ts';
import { type ApiKeyChanges, DEFAULT_SCOPES, type IssuedApiKey, type NewApiKey } from './api-key-acts.ts';
import type { ApiKeyHook } from './api-key-hook.ts';
import { type ApiKeyLimits, changedLimits, concerned, limitsInForce } from '../limits/api-key-limits.ts';
import { addSecret, expireSecrets } from './api-key-secrets.ts';
import { ApiKey } from './api-key.entity.ts';
import { Session } from '../credentials/session.entity.ts';
import { assertCovers, assertMayGrant, boundsOf } from './grants.ts';
import { hashOf } from '../credentials/key-hashes.ts';
import { isApiKeyId, lockKeys, lockTarget, notFound } from './locked-keys.ts';
import { assertMayMake, isBounded, lockMadeKeys } from './made-keys.ts';
import { ApiError } from '../../errors/api-error.ts';
import { unixSeconds } from '../../platform/schema/time.ts';

interface Revocation {
  keepTasks: boolean;
  children?: boolean;
}

/** What an audit event keeps of a key. The limits are those set on the key, without the configured ones. */
const snapshotOf = ({ name, hint, scopes, limits, models, expires_at }: ApiKey) => ({
  name,
  hint,
  scopes,
  limits,
  ...(models && { models }),
  expires_at: expires_at && unixSeconds(expires_at),
});

/**
 * Creates, lists, changes, rotates and revokes API keys. The row of a revoked key stays, because its tasks refer to it,
 * but lists and look-ups leave it out. Each change and its audit event are one transaction.
 */
@Injectable()
export class ApiKeysService {
  private readonly hooks: ApiKeyHook[] = [];

  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly secrets: Secrets,
    private readonly authenticator: Authenticator,
    private readonly config: Config,
    private readonly audit: AuditLog,
  ) {}

  registerHook(hook: ApiKeyHook): void {
    this.hooks.push(hook);
  }

  /**
   * @throws ApiError insufficient_scope when `by` would grant more than its own scopes, limits, budget, models or
   *   expiry allow; value_out_of_range for an expiry in the past, or a retention that is too long; too_many_items;
   *   api_key_revoked when the key of `by` is revoked
   */
  create(input: NewApiKey, by: Actor): Promise<IssuedApiKey> {
    const scopes = input.scopes ?? DEFAULT_SCOPES;
    assertRetention(input.limits ?? {}, input.limits, this.config);
    return this.audit.transaction(by, async (tx, record) => {
      const { grantor } = await lockKeys(tx, by);
      if (grantor) {
        const limits = limitsInForce(input.limits ?? {}, this.config);
        const budget = input.limits?.budget ?? null;
        assertMayGrant(grantor, {
          scopes,
          limits,
          budget,
          models: input.models ?? null,
          expiresAt: input.expiresAt ?? null,
        });
      }
      const createdBy = by.caller?.apiKeyId;
      if (createdBy !== undefined) await assertMayMake(tx, createdBy);
      return this.issue(tx, record, { ...input, scopes, createdBy }, newApiKey(this.config.cell));
    });
  }

  /**
   * Stores a new API key with the plain text `key`, and records its creation, in the transaction `tx`.
   * @throws ApiError value_out_of_range if the key has expired already
   */
  async issue(
    tx: EntityManager,
    record: RecordAct,
    input: NewApiKey & { scopes: readonly Scope[] },
    key: string,
  ): Promise<IssuedApiKey> {
    const id = typeidUnboxed('key');
    await tx.insert(ApiKey, {
      id,
      name: input.name,
      hint: hintOf(key),
      scopes: inOrder(input.scopes),
      limits: input.limits ?? {},
      models: input.models ?? null,
      created_at: () => 'now()',
      expires_at: input.expiresAt ?? null,
      created_by: input.createdBy ?? null,
    });
    await addSecret(tx, { apiKeyId: id, hash: hashOf(key, this.secrets), secretKeyId: this.secrets.keyId });
    if (input.limits?.budget) await setBudget(tx, id, input.limits.budget);
    await assertNotExpired(tx, id);
    const apiKey = await tx.findOneByOrFail(ApiKey, { id });
    await record({ action: 'api_key.created', apiKeyId: id, before: null, after: snapshotOf(apiKey) });
    return { apiKey, key };
  }

  /**
   * Keys that are not revoked, newest first. With `createdBy`, only keys that this key has created.
   * @param after the last id of the previous page
   */
  async list(page: {
    limit: number;
    after?: string | undefined;
    createdBy?: string | undefined;
  }): Promise<{ apiKeys: ApiKey[]; hasMore: boolean }> {
    const { after, createdBy } = page;
    const apiKeys = await this.apiKeys.find({
      where: {
        revoked_at: IsNull(),
        ...(after !== undefined && { id: LessThan(after) }),
        ...(createdBy !== undefined && { created_by: createdBy }),
      },
      order: { id: 'desc' },
      take: page.limit + 1,
    });
    return { apiKeys: apiKeys.slice(0, page.limit), hasMore: apiKeys.length > page.limit };
  }

  /** @throws ApiError api_key_not_found if the id is unknown, malformed or that of a revoked key */
  async find(id: string): Promise<ApiKey> {
    const found = isApiKeyId(id) ? await this.apiKeys.findOneBy({ id, revoked_at: IsNull() }) : null;
    return found ?? notFound();
  }

  /** Whether the key is neither revoked nor expired. An upload link of a revoked or expired key permits nothing. */
  isUsable(id: string): Promise<boolean> {
    const active = { id, revoked_at: IsNull() };
    return this.apiKeys.existsBy([
      { ...active, expires_at: IsNull() },
      { ...active, expires_at: isAhead() },
    ]);
  }

  /**
   * Changes take effect in this process at once, and in all others within 5 s.
   * @throws ApiError api_key_not_found; insufficient_scope when `by` lacks one of the key's scopes, or would grant more
   *   than it has; value_out_of_range for an expiry in the past, or a retention that is too long; api_key_revoked when
   *   the key of `by` is revoked
   */
  async update(id: string, changes: ApiKeyChanges, by: Actor): Promise<ApiKey> {
    const apiKey = await this.audit.transaction(by, async (tx, record) => {
      const { target, grantor } = await lockTarget(tx, id, by);
      const { name, scopes, models, expiresAt } = changes;
      const limits = changes.limits === undefined ? undefined : changedLimits(target.limits, changes.limits);
      if (limits) assertRetention(limits, changes.limits, this.config);
      const inForce = limits && limitsInForce(limits, this.config);
      const hasBudgetChanged = changesBudget(changes.limits);
      if (grantor) {
        const granted = inForce && concerned(inForce, changes.limits!);
        const budget = hasBudgetChanged ? (limits?.budget ?? null) : undefined;
        assertMayGrant(grantor, { scopes, expiresAt, limits: granted, budget, models });
      }
      await tx.update(ApiKey, id, {
        name: name ?? target.name,
        scopes: inOrder(scopes ?? target.scopes),
        limits: limits ?? target.limits,
        models: models === undefined ? target.models : models,
        expires_at: expiresAt === undefined ? target.expires_at : expiresAt,
      });
      if (expiresAt) await assertNotExpired(tx, id);
      if (inForce) await applyLimits(tx, this.hooks, target, { own: limits!, inForce, hasBudgetChanged });
      const updated = await tx.findOneByOrFail(ApiKey, { id });
      await record({
        action: 'api_key.updated',
        apiKeyId: id,
        before: snapshotOf(target),
        after: snapshotOf(updated),
      });
      return updated;
    });
    this.authenticator.forget([id]);
    return apiKey;
  }

  /**
   * Gives the key a new secret. The id, the scopes and everything the key owns stay. All older secrets expire after at
   * most `overlapHours`. `by` learns the secret and may then do all that the key may, so `by` must be allowed to create
   * such a key.
   * @throws ApiError api_key_not_found; insufficient_scope when `by` lacks one of the key's scopes, or has narrower
   *   bounds than the key; api_key_revoked when the key of `by` is revoked
   */
  async rotate(id: string, { overlapHours }: { overlapHours: number }, by: Actor): Promise<IssuedApiKey> {
    const key = newApiKey(this.config.cell);
    const hint = hintOf(key);
    const apiKey = await this.audit.transaction(by, async (tx, record) => {
      const { target, grantor } = await lockTarget(tx, id, by);
      if (grantor) assertMayGrant(grantor, boundsOf(target, this.config));
      await expireSecrets(tx, id, overlapHours);
      const hash = hashOf(key, this.secrets);
      await addSecret(tx, { apiKeyId: id, hash, secretKeyId: this.secrets.keyId });
      // The browser that rotates its own key stays signed in. All other sessions end with the secret that opened them.
      const { sessionId, apiKeyId } = by.caller ?? {};
      if (sessionId && apiKeyId === id) await tx.update(Session, { id: sessionId }, { secret_hash: hash });
      await tx.update(ApiKey, { id }, { hint });
      await record({
        action: 'api_key.rotated',
        apiKeyId: id,
        before: { hint: target.hint },
        after: { hint, overlap_hours: overlapHours },
      });
      return tx.findOneByOrFail(ApiKey, { id });
    });
    this.authenticator.forget([id]);
    return { apiKey, key };
  }

  /**
   * Revokes the key. Ends its queued tasks with `task_cancelled`, unless `keepTasks` is set. With `children`, or if the
   * key is bounded, does the same to all keys below it: those that it has made, those that they have made and so on.
   * @throws ApiError api_key_not_found, also if the key is revoked already; insufficient_scope when `by` lacks a scope
   *   of the key or, with `children`, of a key below it; api_key_revoked when the key of `by` is revoked
   */
  async revoke(id: string, { keepTasks, children = false }: Revocation, by: Actor): Promise<void> {
    const ids = await this.audit.transaction(by, async (tx, record) => {
      const { target, grantor } = await lockTarget(tx, id, by);
      const made = children || isBounded(target) ? await lockMadeKeys(tx, id) : [];
      if (grantor && children) for (const key of made) assertCovers(grantor, key.scopes);
      const after = { keep_tasks: keepTasks };
      await record({ action: 'api_key.revoked', apiKeyId: id, before: snapshotOf(target), after });
      return this.revokeIn(tx, record, { own: [id], made }, { keepTasks });
    });
    this.authenticator.forget(ids);
  }

  /**
   * Revokes the keys `own` and `made` in `tx`, which must have locked all of them. Records the revocation of the `made`
   * keys. The caller of this method records that of the `own` keys. Without `keepTasks`, ends the queued tasks of all
   * these keys in one pass. Ending them key by key could deadlock: the pass for the second key would lock its tasks
   * after the counters of a key above both. A task that ends locks its own row before these counters.
   * @returns the ids of all keys
   */
  async revokeIn(
    tx: EntityManager,
    record: RecordAct,
    { own, made }: { own: string[]; made: ApiKey[] },
    { keepTasks }: { keepTasks: boolean },
  ): Promise<string[]> {
    for (const key of made) {
      const after = { keep_tasks: keepTasks, with_key: key.created_by };
      await record({ action: 'api_key.revoked', apiKeyId: key.id, before: snapshotOf(key), after });
    }
    const ids = [...own, ...made.map(({ id }) => id)];
    const isOne = Raw((column) => `${column} = any(:ids)`, { ids });
    await tx.update(ApiKey, { id: isOne }, { revoked_at: () => 'now()' });
    if (!keepTasks) await this.runRevokeHooks(tx, ids);
    return ids;
  }

  /** Ends the queued tasks of keys that are revoked already. */
  endQueued(ids: string[]): Promise<void> {
    return this.apiKeys.manager.transaction((tx) => this.runRevokeHooks(tx, ids));
  }

  private async runRevokeHooks(tx: EntityManager, ids: string[]): Promise<void> {
    for (const hook of this.hooks) await hook.onRevoke?.(tx, ids);
  }
}

const inOrder = (scopes: readonly Scope[]): Scope[] => SCOPES.filter((scope) => scopes.includes(scope));

/**
 * Compares the key's expiry with the database's clock.
 * @throws ApiError value_out_of_range if the key has expired
 */
async function assertNotExpired(tx: EntityManager, id: string): Promise<void> {
  if (!(await tx.existsBy(ApiKey, { id, expires_at: isPast() }))) return;
  throw new ApiError('value_out_of_range', { param: 'expires_at', message: 'expires_at must be in the future.' });
}

/**
 * Checks that a key keeps its tasks and files no longer than the configuration says, and its files no longer than its
 * tasks.
 * @param own the limits of the key after the change
 * @param changes the requested limits. Only these are compared with the configuration. The other limits of the key need
 *   no check, because a retention in force is never longer than configured.
 * @throws ApiError value_out_of_range
 */
function assertRetention(own: ApiKeyLimits, changes: object | null | undefined, config: Config): void {
  if (!changes) return;
  const { task_retention_days: tasks, file_retention_days: files } = own;
  if ('task_retention_days' in changes && tasks !== undefined && tasks > config.taskRetentionDays) {
    tooLong('task_retention_days', config.taskRetentionDays, 'TASK_RETENTION_DAYS of the service');
  }
  if ('file_retention_days' in changes && files !== undefined && files > config.fileRetentionDays) {
    tooLong('file_retention_days', config.fileRetentionDays, 'FILE_RETENTION_DAYS of the service');
  }
  if (tasks !== undefined && files !== undefined && files > tasks) {
    tooLong('file_retention_days', tasks, 'task_retention_days of the key');
  }
}

function tooLong(name: string, bound: number, what: string): never {
  const param = `limits.${name}`;
  throw new ApiError('value_out_of_range', { param, message: `${param} must be at most ${bound}, the ${what}.` });
}
