import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { ApiKey } from './api-key.entity.ts';

/** What operators see of an API key in the list of queues. */
export type KeyFacts = Pick<ApiKey, 'id' | 'name' | 'limits' | 'last_used_at'>;

/** Names and limits of API keys, for lists that operators read. */
@Injectable()
export class KeyNames {
  constructor(@InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>) {}

  /** @returns the facts by id of the key; keys that do not exist are missing */
  async of(ids: string[]): Promise<Map<string, KeyFacts>> {
    const rows = await this.apiKeys.find({
      select: { id: true, name: true, limits: true, last_used_at: true },
      where: { id: In(ids) },
    });
    return new Map(rows.map((row) => [row.id, row]));
  }
}
