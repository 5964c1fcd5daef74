import { Injectable } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import { SEE_EVENTS } from '../sql/see-events.ts';

/** Lists all events of an API key, for an export of its data. No route lists them. */
@Injectable()
export class EventsOfKey {
  constructor(private readonly sql: Sql) {}

  /** Yields the ids, oldest first, also those of expired events. Reads the whole table once, in pieces. */
  async *ids(apiKeyId: string): AsyncGenerator<string> {
    for (let after = ''; ;) {
      const [seen] = await this.sql.run<{ last: string | null; ids: string[] | null }>(SEE_EVENTS, [apiKeyId, after]);
      if (!seen?.last) return;
      after = seen.last;
      yield* seen.ids ?? [];
    }
  }
}
