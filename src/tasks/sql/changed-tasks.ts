import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** The most ids in one result. A result of this length may be incomplete. */
export const MAX_CHANGED = 10_000;

const UNFINISHED: Statement = {
  name: 'tasks.unfinished_of_keys',
  text: `
    select id from tasks_live where api_key_id = any($1::text[]) and expires_at > now() order by api_key_id, id limit ${MAX_CHANGED}`,
};

const ENDED_SINCE: Statement = {
  name: 'tasks.ended_since',
  text: `
    select id from tasks_done
    where api_key_id = $1 and completed_at > to_timestamp($2::float8 / 1000) and expires_at > now()
    order by completed_at limit ${MAX_CHANGED}`,
};

/** Newest first, so that the newest are read when there are more than MAX_CHANGED. */
const ENDED_WITHIN: Statement = {
  name: 'tasks.ended_within',
  text: `
    select id from tasks_done
    where api_key_id = any($1::text[]) and completed_at > now() - make_interval(secs => $2) and expires_at > now()
    order by completed_at desc limit ${MAX_CHANGED}`,
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

/**
 * Ids of the tasks that must be sent to a subscriber. The rows are read later, as there may be thousands. All times are
 * the database's. Raw SQL because each statement is shaped for one index.
 */
@Injectable()
export class ChangedTasks {
  constructor(private readonly sql: Sql) {}

  /** Unfinished tasks, oldest first. */
  async unfinished(apiKeyIds: readonly string[]): Promise<string[]> {
    return (await this.ids(UNFINISHED, [apiKeyIds])).sort();
  }

  /**
   * Tasks in the order in which they ended.
   * @param sinceMs unix milliseconds, exclusive
   */
  endedSince(apiKeyId: string, sinceMs: number): Promise<string[]> {
    return this.ids(ENDED_SINCE, [apiKeyId, sinceMs]);
  }

  /**
   * Tasks in the order in which they ended.
   * @param seconds back from now
   */
  async endedWithin(apiKeyIds: readonly string[], seconds: number): Promise<string[]> {
    return (await this.ids(ENDED_WITHIN, [apiKeyIds, seconds])).toReversed();
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
