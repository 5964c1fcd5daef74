import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** The most ids in one page. */
export const PAGE = 10_000;

const UNFINISHED: Statement = {
  name: 'tasks.unfinished_of_keys',
  text: `
    select api_key_id as key, id from tasks_live
    where api_key_id = any($1::text[]) and (api_key_id, id) > ($2, $3) and expires_at > now()
    order by api_key_id, id limit ${PAGE}`,
};

/** SQL: the time of an end in unix seconds. A double holds them to the microsecond, as the column does. */
const SECONDS = 'extract(epoch from completed_at)::float8';

const ENDED_SINCE: Statement = {
  name: 'tasks.ended_since',
  text: `
    select id, ${SECONDS} as at from tasks_done
    where api_key_id = $1 and (completed_at, id) > (to_timestamp($2::float8), $3) and expires_at > now()
    order by completed_at, id limit ${PAGE}`,
};

const ENDED_OF_KEYS: Statement = {
  name: 'tasks.ended_of_keys',
  text: `
    select id, ${SECONDS} as at from tasks_done
    where api_key_id = any($1::text[]) and (completed_at, id) > (to_timestamp($2::float8), $3) and expires_at > now()
    order by completed_at, id limit ${PAGE}`,
};

/** Finds which of the given tasks have ended, because a watcher may have missed the only event of an end. */
const ENDED_OF: Statement = {
  name: 'tasks.ended_of',
  text: 'select id from tasks_done where id = any($1::text[])',
};

const NOW: Statement = {
  name: 'tasks.database_time',
  text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
};

/** A task that has ended. */
export interface End {
  id: string;
  /** Unix seconds. */
  at: number;
}

/**
 * Ids of the tasks that must be sent to a subscriber. The rows are read later, as there may be thousands. All times are
 * the database's. Raw SQL because each statement is shaped for one index.
 */
@Injectable()
export class ChangedTasks {
  constructor(private readonly sql: Sql) {}

  /** Pages of unfinished tasks, for each key the oldest first. */
  async *unfinished(apiKeyIds: readonly string[]): AsyncGenerator<string[]> {
    let last = { key: '', id: '' };
    for (;;) {
      const tasks = await this.sql.run<typeof last>(UNFINISHED, [apiKeyIds, last.key, last.id]);
      yield tasks.map(({ id }) => id);
      if (tasks.length < PAGE) return;
      last = tasks.at(-1)!;
    }
  }

  /**
   * Pages of tasks of one key, in the order in which they ended.
   * @param sinceMs unix milliseconds, exclusive
   */
  endedSince(apiKeyId: string, sinceMs: number): AsyncGenerator<End[]> {
    return this.ended(ENDED_SINCE, apiKeyId, sinceMs);
  }

  /**
   * Pages of tasks of several keys, in the order in which they ended.
   * @param sinceMs unix milliseconds, exclusive
   */
  endedOfKeys(apiKeyIds: readonly string[], sinceMs: number): AsyncGenerator<End[]> {
    return this.ended(ENDED_OF_KEYS, apiKeyIds, sinceMs);
  }

  private async *ended(statement: Statement, keys: string | readonly string[], sinceMs: number): AsyncGenerator<End[]> {
    let last: End = { id: '', at: sinceMs / 1000 };
    for (;;) {
      const ends = await this.sql.run<End>(statement, [keys, last.at, last.id]);
      yield ends;
      if (ends.length < PAGE) return;
      last = ends.at(-1)!;
    }
  }

  endedOf(taskIds: readonly string[]): Promise<string[]> {
    return this.ids(ENDED_OF, [taskIds]);
  }

  /** Unix milliseconds. */
  async nowMs(): Promise<number> {
    const rows = await this.sql.run<{ ms: number }>(NOW, []);
    return rows[0]!.ms;
  }

  private async ids(statement: Statement, values: unknown[]): Promise<string[]> {
    return (await this.sql.run<{ id: string }>(statement, values)).map(({ id }) => id);
  }
}
