import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository } from 'typeorm';
import { typeidUnboxed } from 'typeid-js';
import { ApiError } from '../../errors/api-error.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { ApiKeysService } from '../api-keys/api-keys.service.ts';
import { assertCovers } from '../api-keys/grants.ts';
import { isBounded, lockMadeKeys } from '../api-keys/made-keys.ts';
import { lockKeys, notFound } from '../api-keys/locked-keys.ts';
import type { Actor } from '../audit/actor.ts';
import { AuditLog } from '../audit/audit-log.ts';
import { Authenticator } from '../credentials/authenticator.ts';
import { Erasure } from './erasure.entity.ts';

const isErasureId = typeIdTest('erasure');

/** Orders and shows erasures of API keys. Workers carry them out. See docs/decisions/0067-an-erasure-goes-round.md. */
@Injectable()
export class Erasures {
  constructor(
    @InjectRepository(Erasure) private readonly erasures: Repository<Erasure>,
    private readonly apiKeys: ApiKeysService,
    private readonly authenticator: Authenticator,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Revokes the key, unless it is revoked already, and orders its erasure. If the key is bounded, also revokes the keys
   * below it. A second call returns the first erasure.
   * @throws ApiError api_key_not_found; insufficient_scope when `by` lacks one of the key's scopes; api_key_revoked
   *   when the key of `by` is revoked
   */
  async start(apiKeyId: string, by: Actor): Promise<Erasure> {
    const { erasure, ended } = await this.audit.transaction(by, async (tx, record) => {
      const { target, grantor } = await lockKeys(tx, by, apiKeyId);
      if (!target) notFound();
      if (grantor) assertCovers(grantor, target.scopes);
      const earlier = await tx.findOneBy(Erasure, { api_key_id: apiKeyId });
      if (earlier) return { erasure: earlier, ended: [] };
      const made = isBounded(target) ? await lockMadeKeys(tx, apiKeyId) : [];
      const own = target.revoked_at ? [] : [apiKeyId];
      const ended = await this.apiKeys.revokeIn(tx, record, { own, made }, { keepTasks: false });
      const id = typeidUnboxed('erasure');
      const created_by = by.caller?.apiKeyId ?? null;
      await tx.insert(Erasure, { id, api_key_id: apiKeyId, counts: {}, created_by, created_at: () => 'now()' });
      await record({ action: 'api_key.erased', apiKeyId, before: null, after: { erasure_id: id } });
      return { erasure: await tx.findOneByOrFail(Erasure, { id }), ended };
    });
    this.authenticator.forget([apiKeyId, ...ended]);
    return erasure;
  }

  /** @throws ApiError erasure_not_found */
  async find(id: string): Promise<Erasure> {
    const found = isErasureId(id) ? await this.erasures.findOneBy({ id }) : null;
    if (!found) throw new ApiError('erasure_not_found', { param: 'id' });
    return found;
  }

  /** Newest first. @param after the last id of the previous page */
  async list({ limit, after }: { limit: number; after?: string }): Promise<{ erasures: Erasure[]; hasMore: boolean }> {
    const erasures = await this.erasures.find({
      where: after === undefined ? {} : { id: LessThan(after) },
      order: { id: 'desc' },
      take: limit + 1,
    });
    return { erasures: erasures.slice(0, limit), hasMore: erasures.length > limit };
  }
}
