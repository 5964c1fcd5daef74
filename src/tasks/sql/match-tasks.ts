import { Injectable } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import { wordsOf } from '../record/search-words.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import {
  type Bound,
  compared,
  fewOfFilter,
  fewWithWords,
  isIndexed,
  MANY,
  restOfMatches,
  type Search,
} from './match-statements.ts';
import type { Listed, PageRequest } from './page-of-tasks.ts';
import { type Span, WordIndexes } from './word-indexes.ts';

/** Tasks that are compared in the order of the list before an index is asked. 2,000 prompts take some 8 ms. */
const FIRST_COMPARED = 2_000;
/** Where words have no index, they are looked for among more and more tasks, the last number again and again. */
const COMPARED = [FIRST_COMPARED, 16 * FIRST_COMPARED, 256 * FIRST_COMPARED];

/** Of the tasks compared first: if so many match a filter without its words, its index has more than are read of it. */
const COMMON = 20;

const UNDEFINED_TABLE = '42P01';

/**
 * Pages of filters that many tasks of the key may match, or none. Where many do, a page is found at once in the order of the list. Where few do,
 * that would read every task of the key, so the rest is found by an index and sorted. PostgreSQL cannot choose between the two, because it plans
 * a statement once, for any value.
 */
@Injectable()
export class MatchTasks {
  constructor(
    private readonly sql: Sql,
    private readonly indexes: WordIndexes,
  ) {}

  /** Whether the list in its order may have to pass many tasks that do not match. */
  static isFor(filter: TaskFilter): boolean {
    if (filter.batch_id || filter.parent_task_id) return false; // their own indexes have few tasks
    return isIndexed(filter) || Boolean(filter.search);
  }

  /** The page and one row more. */
  async rows(apiKeyId: string, filter: TaskFilter, { limit, after, order = 'desc' }: PageRequest): Promise<Listed[]> {
    const found: Listed[] = [];
    const search: Search = { apiKeyId, filter, after, order, wanted: limit + 1 };
    if (await this.compare(search, FIRST_COMPARED, found)) return found;
    const indexed = filter.search ? await this.indexes.find(wordsOf(filter.search)) : { words: [], spans: [] };
    if (isIndexed(filter)) {
      const few = indexed.spans.length > 0 && !search.isCommon ? await this.few(fewOfFilter(search)) : null;
      if (few) return [...found, ...few];
      if (indexed.spans.length === 0) return [...found, ...(await this.rest(search))];
    }
    const spans = order === 'desc' ? indexed.spans.toReversed() : indexed.spans;
    for (let step = 1; ;) {
      const [next] = spans;
      if (next && isBehind(search, next)) {
        spans.shift();
      } else if (next && isIn(search, next)) {
        spans.shift();
        const few = await this.few(fewWithWords(search, next, indexed.words));
        if (few) {
          take(search, found, few);
          if (pass(search, order === 'desc' ? next.from : next.to)) return found;
        } else if (isIndexed(filter)) return [...found, ...(await this.rest(search))];
      } else {
        const until = next && (order === 'desc' ? next.to : next.from);
        const count = COMPARED[step] ?? COMPARED.at(-1)!;
        step += 1;
        if (await this.compare(search, count, found, until)) return found;
      }
    }
  }

  /** Compares the next tasks in the order of the list, up to `until`. @returns whether the page is full or the list has ended */
  private async compare(search: Search, count: number, found: Listed[], until?: string): Promise<boolean> {
    const { statement, values } = compared(search, count, until);
    type Row = Listed & { nth: number; matches: boolean; beside: number | null };
    const rows = await this.sql.run<Row>(statement, values);
    const wanted = search.wanted;
    const matching = rows.filter(({ matches }) => matches).slice(0, wanted);
    take(search, found, matching);
    const last = rows.at(-1);
    if (search.wanted === 0) return true;
    search.isCommon ||= (last?.beside ?? 0) >= COMMON;
    if (last?.nth === count) return pass(search, last.id);
    return until === undefined || pass(search, until);
  }

  private rest(search: Search): Promise<Listed[]> {
    const { statement, values } = restOfMatches(search);
    return this.sql.run<Listed>(statement, values);
  }

  /** @returns null if an index has so many that they were not all read */
  private async few({ statement, values, isPassing }: Bound): Promise<Listed[] | null> {
    type Row = Listed & { read: number };
    const rows = isPassing
      ? await this.sql
          .transaction(async (tx) => (await tx.query<Row>(statement.text, values)).rows)
          .catch(noneIfDropped)
      : await this.sql.run<Row>(statement, values);
    return rows[0]?.read === MANY ? null : rows;
  }
}

/** The partition is gone since its indexes were read, and its tasks with it. */
function noneIfDropped(error: { code?: string }): [] {
  if (error.code === UNDEFINED_TABLE) return [];
  throw error;
}

function take(search: Search, found: Listed[], rows: Listed[]): void {
  found.push(...rows);
  search.wanted -= rows.length;
}

/** Goes on behind this id. @returns whether the page is full or nothing can follow */
function pass(search: Search, id: string): boolean {
  search.after = id;
  return search.wanted === 0 || id === '';
}

/** Whether the task after the cursor may be one of the span. */
const isIn = ({ after, order }: Search, { from, to }: Span): boolean =>
  order === 'desc' ? from < after! && after! <= to : from <= after! && after! < to;

const isBehind = ({ after, order }: Search, { from, to }: Span): boolean =>
  order === 'desc' ? after! <= from : to <= after!;
