import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, LessThan, Repository } from 'typeorm';
import { isAhead } from '../../platform/database/past.ts';
import { typeidUnboxed } from 'typeid-js';
import type { Actor } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { WorkingKeys } from '../../auth/credentials/working-keys.ts';
import { ApiError } from '../../errors/api-error.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { listedFile } from '../content/listed-file.ts';
import { Share } from '../record/share.entity.ts';
import { lockSharesOfKey } from '../sql/share-rows.ts';
import type { CreateShareInput } from './share.inputs.ts';
import { SharedFiles } from './shared-files.ts';

/** The maximum number of shares of one API key that have not ended. */
const MAX_SHARES = 1_000;
const MAX_LIFETIME_DAYS = 365;

const isShareId = typeIdTest('share');

/**
 * The shares of an API key. Every method with the key as a parameter finds only shares of that key. `open` finds shares
 * of any key.
 */
@Injectable()
export class Shares {
  constructor(
    @InjectRepository(Share) private readonly shares: Repository<Share>,
    private readonly audit: AuditLog,
    private readonly files: SharedFiles,
    private readonly keys: WorkingKeys,
  ) {}

  /**
   * @throws ApiError file_not_found, file_expired, upload_incomplete, invalid_value, value_out_of_range, too_many_items
   */
  async create(actor: Actor, { file_ids, expires_at, show_prompt = false }: CreateShareInput): Promise<Share> {
    assertEnd(expires_at);
    const { apiKeyId } = actor.caller!;
    for (const [index, id] of file_ids.entries()) await listedFile(index, () => this.files.find(apiKeyId, id));
    const id = typeidUnboxed('share');
    return this.audit.transaction(actor, async (tx, record) => {
      await assertBelowLimit(tx, apiKeyId);
      await tx.insert(Share, {
        id,
        api_key_id: apiKeyId,
        file_ids,
        show_prompt,
        created_at: () => 'now()',
        expires_at: new Date(expires_at * 1000),
      });
      const after = { file_ids, show_prompt, expires_at };
      await record({ action: 'share.created', target: { type: 'share', id }, before: null, after });
      return tx.findOneByOrFail(Share, { id });
    });
  }

  /** The shares that have not ended, newest first. */
  async list(
    apiKeyId: string,
    { limit, after }: { limit: number; after?: string | undefined },
  ): Promise<{ shares: Share[]; hasMore: boolean }> {
    const shares = await this.shares.find({
      where: { api_key_id: apiKeyId, expires_at: isAhead(), ...(after !== undefined && { id: LessThan(after) }) },
      order: { id: 'desc' },
      take: limit + 1,
    });
    return { shares: shares.slice(0, limit), hasMore: shares.length > limit };
  }

  /**
   * Deletes the share: from now on nobody can open it.
   * @throws ApiError share_not_found
   */
  async delete(actor: Actor, id: string): Promise<void> {
    if (!isShareId(id)) throw new ApiError('share_not_found', { param: 'id' });
    const own = { id, api_key_id: actor.caller!.apiKeyId, expires_at: isAhead() };
    await this.audit.transaction(actor, async (tx, record) => {
      const { affected } = await tx.delete(Share, own);
      if (affected === 0) throw new ApiError('share_not_found', { param: 'id' });
      await record({ action: 'share.deleted', target: { type: 'share', id }, before: null, after: null });
    });
  }

  /**
   * Finds a share of any API key, for a visitor who has its address.
   * @throws ApiError share_ended when the share has expired or was deleted, or its key does not work any more
   */
  async open(id: string): Promise<Share> {
    const share = await this.shares.findOneBy({ id, expires_at: isAhead() });
    if (!share || !(await this.keys.has(share.api_key_id))) throw new ApiError('share_ended');
    return share;
  }
}

function assertEnd(expiresAt: number): void {
  const secondsLeft = expiresAt - Date.now() / 1000;
  if (secondsLeft > 0 && secondsLeft <= MAX_LIFETIME_DAYS * DAY_S) return;
  const message = `expires_at must be in the future, and at most ${MAX_LIFETIME_DAYS} days from now.`;
  throw new ApiError('value_out_of_range', { param: 'expires_at', message });
}

async function assertBelowLimit(tx: EntityManager, apiKeyId: string): Promise<void> {
  await lockSharesOfKey(tx, apiKeyId);
  if ((await tx.countBy(Share, { api_key_id: apiKeyId, expires_at: isAhead() })) < MAX_SHARES) return;
  throw new ApiError('too_many_items', { message: `An API key has at most ${MAX_SHARES} shares; delete some.` });
}
