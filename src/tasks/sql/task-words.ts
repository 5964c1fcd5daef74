import { Injectable, Logger } from '@nestjs/common';
import type { Client } from 'pg';
import { Sql, type Tx } from '../../platform/database/sql.ts';

/** The extensions for one GIN index over the trigrams of prompts and over the ids of API keys. */
export const EXTENSIONS = ['pg_trgm', 'btree_gin'];
/**
 * No migration creates this index: the role may lack the permission to create the extensions, and a search works
 * without the index.
 */
export const WORDS_INDEX = 'task_words_gin';

const REFRESH_MS = 60_000;
/**
 * Whether the index is usable. A search compares all tasks that ended after the index was filled, so it must have been
 * filled lately.
 */
const IS_USABLE = `
  select from pg_index, words_state
  where indexrelid = to_regclass('${WORDS_INDEX}') and indisvalid and through > now() - interval '10 minutes'`;
/** Whether letters beyond ASCII have trigrams, which they lack in a database with the locale C. */
const IS_ANY_SCRIPT = `select show_trgm('\u0434\u043e\u043c') <> '{}' as is_any_script`;

/** Tells which words the index can find. What it knows of the index is at most a minute old. */
@Injectable()
export class TaskWordsIndex {
  private readonly logger = new Logger('words');
  private trigram: Promise<RegExp | null> | undefined;
  private readAt = 0;

  constructor(private readonly sql: Sql) {}

  /** @returns those of the words that the index can find */
  async findable(words: readonly string[]): Promise<string[]> {
    const trigram = await this.read();
    return trigram ? words.filter((word) => trigram.test(word)) : [];
  }

  /** Makes the next search read the state of the index again. */
  forget(): void {
    this.trigram = undefined;
  }

  private read(): Promise<RegExp | null> {
    if (!this.trigram || performance.now() - this.readAt > REFRESH_MS) {
      this.readAt = performance.now();
      this.trigram = this.sql
        .transaction((tx) => trigramOf(tx))
        .catch((err: unknown) => {
          this.logger.warn({ event: 'words.index_failed', err });
          return null; // a search works without an index
        });
    }
    return this.trigram;
  }
}

/** @returns what a word must contain to be found by the index; null if there is no index, or it is far behind */
async function trigramOf(tx: Tx): Promise<RegExp | null> {
  if ((await tx.query(IS_USABLE)).rowCount === 0) return null;
  const { rows } = await tx.query<{ is_any_script: boolean }>(IS_ANY_SCRIPT);
  return rows[0]!.is_any_script ? /[\p{L}\p{N}]{3}/u : /[a-z0-9]{3}/i;
}

export interface WordsReport {
  /** Missing extensions. */
  missing: string[];
  has_index: boolean;
  /** Until when ended tasks are in the index, in UTC, to the minute. */
  through: string;
}

const STATE = `
  select to_regclass('${WORDS_INDEX}') is not null as has_index, to_char(through at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as through,
         array(select name from unnest($1::text[]) as name where name not in (select extname from pg_extension)) as missing
  from words_state`;

export async function readWordsState(client: Client): Promise<WordsReport> {
  const [row] = (await client.query<WordsReport>(STATE, [EXTENSIONS])).rows;
  return row!;
}
