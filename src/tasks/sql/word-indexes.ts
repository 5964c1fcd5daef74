import { Injectable, Logger } from '@nestjs/common';
import { type Queryable, readPartitions } from '../../platform/database/partitions/read-partitions.ts';
import { hidden } from '../../platform/database/planner.ts';
import { Sql } from '../../platform/database/sql.ts';
import { TASK_TABLES } from '../record/partitioned-tables.ts';
import { outermost, type Stretch, stretchOfIndex } from './word-stretches.ts';

const [{ name: TASKS }] = TASK_TABLES.tables;
const REFRESH_MS = 60_000;

/** The key is hidden, so that only this index fits the statement, and the index of all tasks of a key does not. */
export const INDEXED_KEY = hidden('api_key_id');
export const INDEXED_PROMPT = `(input->>'prompt')`;
/** Trigrams of a prompt, and text keys, in one GIN index. */
export const EXTENSIONS = ['pg_trgm', 'btree_gin'];

export async function missingExtensions(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select extname as name from pg_extension');
  return EXTENSIONS.filter((extension) => !rows.some(({ name }) => name === extension));
}

/** Of a partition. */
export const wordIndexOf = (partition: string): string => `${partition}_words`;

/** An interrupted build leaves an index that is not valid. */
const STATES = `
  select c.relname as partition, n.relname as name, i.indisvalid as is_valid
  from pg_inherits p join pg_class c on c.oid = p.inhrelid join pg_index i on i.indrelid = c.oid join pg_class n on n.oid = i.indexrelid
  where p.inhparent = '${TASKS}'::regclass and starts_with(n.relname, c.relname || '_words')
  order by n.relname`;

/** In a database with the locale C only ASCII has trigrams. */
const IS_ANY_SCRIPT = `select show_trgm('\u0434\u043e\u043c') <> '{}' as is_any_script`;

export interface IndexedStretch extends Stretch {
  name: string;
  isValid: boolean;
}

export interface IndexedPartition {
  name: string;
  /** Its smallest id or less; empty: the first one. */
  from: string;
  /** More than its largest id. */
  to: string;
  /** Whether the index of the words of the whole partition is complete; undefined: there is no such index. */
  isValid: boolean | undefined;
  /** Those with an index of their own, oldest first. */
  stretches: IndexedStretch[];
}

/** Oldest first. */
export async function readWordIndexes(client: Queryable): Promise<IndexedPartition[]> {
  const partitions = await readPartitions(client, TASKS);
  const { rows } = await client.query<{ partition: string; name: string; is_valid: boolean }>(STATES);
  return partitions.map((partition) => {
    const ofPartition = rows.filter(({ partition: name }) => name === partition.name);
    const stretches = ofPartition.flatMap(({ name, is_valid: isValid }) => {
      const stretch = stretchOfIndex(name);
      return stretch ? [{ ...stretch, name, isValid }] : [];
    });
    const whole = ofPartition.find(({ name }) => name === wordIndexOf(partition.name));
    return { ...partition, isValid: whole?.is_valid, stretches };
  });
}

/** The stretches that a search can use. */
export const usable = ({ stretches }: IndexedPartition): IndexedStretch[] =>
  outermost(stretches.filter(({ isValid }) => isValid));

/** Ids from `from` on and below `to` are in partitions whose prompts are indexed, or in an indexed stretch of this partition. */
export interface Span extends Stretch {
  partition?: string;
}

interface Known {
  /** Oldest first, with others between them. */
  spans: Span[];
  /** Whether words of any script have trigrams. */
  isAnyScript: boolean;
}

/** Where tasks can be found by their words, as it was a minute ago at most. An index that is gone since then costs time, never a task. */
@Injectable()
export class WordIndexes {
  private readonly logger = new Logger('partitions');
  private known: Promise<Known> | undefined;
  private readAt = 0;

  constructor(private readonly sql: Sql) {}

  /** @returns the words that an index can look for, and the ids that have one */
  async find(words: readonly string[]): Promise<{ words: string[]; spans: Span[] }> {
    const { spans, isAnyScript } = await this.read();
    const trigram = isAnyScript ? /[\p{L}\p{N}]{3}/u : /[a-z0-9]{3}/i;
    const indexable = words.filter((word) => trigram.test(word));
    return { words: indexable, spans: indexable.length > 0 ? [...spans] : [] };
  }

  /** The next search reads the catalogue again. */
  forget(): void {
    this.known = undefined;
  }

  private read(): Promise<Known> {
    if (!this.known || performance.now() - this.readAt > REFRESH_MS) {
      this.readAt = performance.now();
      this.known = this.sql
        .transaction((tx) => load(tx))
        .catch((err: unknown) => {
          this.logger.warn({ event: 'words.index_failed', err });
          return NONE; // a search works without an index
        });
    }
    return this.known;
  }
}

const NONE: Known = { spans: [], isAnyScript: false };

async function load(tx: Queryable): Promise<Known> {
  const spans: Span[] = [];
  for (const partition of await readWordIndexes(tx)) {
    const { name, from, to, isValid } = partition;
    const before = spans.at(-1);
    if (!isValid)
      spans.push(...usable(partition).map((stretch) => ({ partition: name, ...within(partition, stretch) })));
    else if (before && before.partition === undefined && before.to === from) before.to = to;
    else spans.push({ from, to });
  }
  if (spans.length === 0) return NONE;
  const { rows } = await tx.query<{ is_any_script: boolean }>(IS_ANY_SCRIPT);
  return { spans, isAnyScript: rows[0]!.is_any_script };
}

const within = (outer: Stretch, { from, to }: Stretch): Stretch => ({
  from: from < outer.from ? outer.from : from,
  to: to > outer.to ? outer.to : to,
});
