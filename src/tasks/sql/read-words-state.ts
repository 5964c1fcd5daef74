import type { Client } from 'pg';
import { EXTENSIONS, WORDS_INDEX } from './task-words.ts';

export interface WordsReport {
  /** Extensions. */
  missing: string[];
  has_index: boolean;
  /** In UTC, to the minute. */
  through: string;
}

const READ = `
  select to_regclass('${WORDS_INDEX}') is not null as has_index, to_char(through at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as through,
         array(select name from unnest($1::text[]) as name where name not in (select extname from pg_extension)) as missing
  from words_state`;

export async function readWordsState(client: Client): Promise<WordsReport> {
  const [row] = (await client.query<WordsReport>(READ, [EXTENSIONS])).rows;
  return row!;
}
