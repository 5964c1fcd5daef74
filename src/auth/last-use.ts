import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Sql, type Statement } from '../platform/database/sql.ts';

const FLUSH_DELAY_MS = 1000;

/**
 * Rows another process is writing just now are skipped (it writes the same news), so two of these never wait for or
 * deadlock each other. A revoked key keeps its last good use.
 */
const RECORD: Statement = {
  name: 'auth.record-last-use',
  text: `
  update api_keys set last_used_at = now()
   where id in (select id from api_keys where id = any($1) and revoked_at is null
                   and (last_used_at is null or last_used_at < now() - interval '1 minute')
                   for no key update skip locked)`,
};

/** Notes when keys were last used: many at a time, at most once a minute each, and never at a request's expense. */
@Injectable()
export class LastUse implements BeforeApplicationShutdown {
  readonly #logger = new Logger(LastUse.name);
  #noted = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly sql: Sql) {}

  note(apiKeyId: string): void {
    this.#noted.add(apiKeyId);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_DELAY_MS).unref();
  }

  /** Never throws: a lost note costs nothing but its news, and the next use brings it again. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#noted.size === 0) return;
    const noted = [...this.#noted];
    this.#noted = new Set();
    try {
      await this.sql.run(RECORD, [noted]);
    } catch (error) {
      this.#logger.debug(`last use of ${noted.length} API keys not recorded: ${(error as Error).message}`);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
