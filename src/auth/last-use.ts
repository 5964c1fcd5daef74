import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Sql } from '../platform/database/sql.ts';
import { outsideOfRequests } from '../platform/logging/request-context.ts';
import { recordLastUse } from './sql/record-last-use.ts';

const FLUSH_DELAY_MS = 1000;

/** Records when keys were last used: in batches, at most once a minute per key, and without delaying a request. */
@Injectable()
export class LastUse implements BeforeApplicationShutdown {
  private readonly logger = new Logger('auth');
  private pending = new Set<string>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly sql: Sql) {}

  note(apiKeyId: string): void {
    this.pending.add(apiKeyId);
    this.timer ??= outsideOfRequests(() => setTimeout(() => void this.flush(), FLUSH_DELAY_MS).unref());
  }

  /** Never throws. A failed write only leaves `last_used_at` older, and the next use of the key writes it again. */
  async flush(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.pending.size === 0) return;
    const apiKeyIds = [...this.pending];
    this.pending = new Set();
    try {
      await recordLastUse(this.sql, apiKeyIds);
    } catch (error) {
      this.logger.debug({ event: 'key.last_use_failed', count: apiKeyIds.length, err: error });
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
