import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Config } from '../../platform/config/config.ts';
import type { Caller } from '../access/caller.ts';
import { keysAbove } from '../credentials/sql/keys-above.ts';
import { limitsInForce, ownLimits } from '../limits/api-key-limits.ts';
import { ApiKey } from './api-key.entity.ts';

/** The key that owns a file, with its limits and those of the keys above it. */
export type Owner = Pick<Caller, 'apiKeyId' | 'limits' | 'bounds'>;

/** Reads the limits of a key from the database, for workers: they have no request of that key. */
@Injectable()
export class KeyLimits {
  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly config: Config,
  ) {}

  /** @throws EntityNotFoundError when the key does not exist */
  async of(apiKeyId: string): Promise<Owner> {
    const { limits } = await this.apiKeys.findOneByOrFail({ id: apiKeyId });
    const { bounds } = await keysAbove(this.apiKeys.manager, apiKeyId);
    return {
      apiKeyId,
      limits: limitsInForce(limits, this.config),
      bounds: bounds.map((key) => ({
        apiKeyId: key.apiKeyId,
        limits: ownLimits(key.limits),
        hasBudget: key.limits.budget !== undefined,
      })),
    };
  }
}
