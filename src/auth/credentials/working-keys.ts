import { Injectable } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import { IS_WORKING_KEY } from './sql/is-working-key.ts';

/** Says of API keys whether they still work, for what a key has left to people without one. */
@Injectable()
export class WorkingKeys {
  constructor(private readonly sql: Sql) {}

  /** false: unknown, erased, revoked or expired, or a bounded key above it is. */
  async has(apiKeyId: string): Promise<boolean> {
    const [row] = await this.sql.run<{ works: boolean }>(IS_WORKING_KEY, [apiKeyId]);
    return row?.works ?? false;
  }
}
