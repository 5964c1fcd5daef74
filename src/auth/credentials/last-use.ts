import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';
import { recordLastUse } from './sql/record-last-use.ts';
import { recordSessionUse } from './sql/record-session-use.ts';

const FLUSH_DELAY_MS = 1000;

/**
 * Records when keys and sessions were last used: in batches, at most once a minute for each, and without delaying a
 * request.
 */
@Injectable()
export class LastUse implements BeforeApplicationShutdown {
  private readonly logger = new Logger('auth');
  private keys = new Set<string>();
  private sessions = new Set<string>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly sql: Sql) {}

  note(apiKeyId: string): void {
    this.keys.add(apiKeyId);
    this.flushSoon();
  }

  noteSession(sessionId: string): void {
    this.sessions.add(sessionId);
    this.flushSoon();
  }

  /** Never throws. A failed write only leaves the times older, and the next use writes them again. */
  async flush(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const [apiKeyIds, sessionIds] = [[...this.keys], [...this.sessions]];
    this.keys = new Set();
    this.sessions = new Set();
    try {
      if (apiKeyIds.length > 0) await recordLastUse(this.sql, apiKeyIds);
      if (sessionIds.length > 0) await recordSessionUse(this.sql, sessionIds);
    } catch (error) {
      this.logger.debug({ event: 'key.last_use_failed', count: apiKeyIds.length + sessionIds.length, err: error });
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private flushSoon(): void {
    this.timer ??= outsideOfRequests(() => setTimeout(() => void this.flush(), FLUSH_DELAY_MS).unref());
  }
}
