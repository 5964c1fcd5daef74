import { Injectable } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import { SEE_EVENTS } from '../sql/see-events.ts';

/** Lists the events of an API key, which no route does. */
@Injectable()
export class EventsOfKey {
  constructor(private readonly sql: Sql) {}

  /** Oldest first, those that have expired too. Reads the table once, in pieces. */
  async *ids(apiKeyId: string): AsyncGenerator<string> {
    for (let after = ''; ;) {
      const [seen] = await this.sql.run<{ last: string | null; ids: string[] | null }>(SEE_EVENTS, [apiKeyId, after]);
      if (!seen?.last) return;
      after = seen.last;
      yield* seen.ids ?? [];
    }
  }
}
