import { Injectable } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import { IS_WORKING_KEY } from './sql/is-working-key.ts';

/** Says whether an API key still works. Links that the key has shared with people without a key depend on it. */
@Injectable()
export class WorkingKeys {
  constructor(private readonly sql: Sql) {}

  /** false: the key is unknown, erased, revoked or expired, or a bounded key above it is. */
  async has(apiKeyId: string): Promise<boolean> {
    const [row] = await this.sql.run<{ works: boolean }>(IS_WORKING_KEY, [apiKeyId]);
    return row?.works ?? false;
  }
}
