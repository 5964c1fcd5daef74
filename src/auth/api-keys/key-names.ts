import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { ApiKey } from './api-key.entity.ts';

/** Names of API keys, for lists that operators read. */
@Injectable()
export class KeyNames {
  constructor(@InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>) {}

  /** @returns by id; deleted keys are missing */
  async of(ids: string[]): Promise<Map<string, Pick<ApiKey, 'id' | 'name' | 'last_used_at'>>> {
    const rows = await this.apiKeys.find({
      select: { id: true, name: true, last_used_at: true },
      where: { id: In(ids) },
    });
    return new Map(rows.map((row) => [row.id, row]));
  }
}
