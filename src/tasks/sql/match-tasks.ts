import { Injectable } from '@nestjs/common';
import { escapeIdentifier } from 'pg';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { patternOf, wordsOf } from '../record/search-words.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import type { Listed, PageRequest } from './page-of-tasks.ts';
import { INDEXED_KEY, INDEXED_PROMPT, type Span, WordIndexes } from './word-indexes.ts';
import { MEDIA_KINDS } from '../../models/definition/media-kind.ts';
import { equalsOrdered, hidden, hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { TASK_SOURCES } from '../record/task-origin.ts';
import { SHOWN_COLUMNS } from '../record/task.entity.ts';
import { ROW_VERSION } from '../record/task-version.ts';
import { TaskConditions } from './task-conditions.ts';
import { isOfStretch } from './word-stretches.ts';

/** A word that so many tasks have is found sooner in the order of the list, or by another filter. The index reads this many in some 10 ms. */
const MANY = 2_000;

interface Bound {
  statement: Statement;
  values: unknown[];
}

/** Filters are combined in 100,000 ways, and a text with the name of a partition is soon out of date. */
const isUnprepared = true;

/** What to look for, and how many rows of it. */
interface Search {
  apiKeyId: string;
  filter: TaskFilter;
  after: string | null | undefined;
  order: 'asc' | 'desc';
  wanted: number;
  /** Whether many of the tasks that were compared match the filter without its words. */
  isCommon?: boolean;
}

const hasFacet = ({ kind, model, source }: TaskFilter): boolean => Boolean(kind || model || source);
const hasMetadata = ({ metadata }: TaskFilter): boolean => Object.keys(metadata ?? {}).length > 0;
const isIndexed = (filter: TaskFilter): boolean =>
  hasFacet(filter) || hasMetadata(filter) || Boolean(filter.error_code) || filter.cancelled === true;

/**
 * The next tasks of the list that match, and the last one that was compared, whether it matches or not. `beside`: how many so far match the filter
 * without its words.
 */
export function compared({ apiKeyId, filter, after, order, wanted }: Search, count: number, until?: string): Bound {
  const values: unknown[] = [apiKeyId, wanted];
  const [next, matching] = [new TaskConditions(values), new TaskConditions(values)];
  next.where('after', after, (value) => `id ${order === 'desc' ? '<' : '>'} ${value}`);
  next.where('until', until, (value) => `id ${order === 'desc' ? '>=' : '<'} ${value}`);
  next.restrictTimes(filter);
  matching.restrictRest(filter);
  const beside = new TaskConditions(values);
  if (filter.search) beside.restrictRest({ ...filter, search: null });
  const name = next.nameOf(`tasks.match ${count}`, ...(order === 'asc' ? [order] : []));
  const text = `
    select id, version, nth, beside, matches from (
      select next.*, (true ${matching.sql}) is true as matches from (
        select ${SHOWN_COLUMNS}, ${ROW_VERSION}, row_number() over so_far::int as nth,
               ${beside.sql ? `count(*) filter (where true ${beside.sql}) over so_far::int` : 'null'} as beside
        from tasks
        where ${equalsOrdered('api_key_id', '$1::text')} and ${hiddenTime('expires_at')} > now() ${next.sql}
        window so_far as (order by api_key_id ${order}, id ${order} rows unbounded preceding)
        order by api_key_id ${order}, id ${order} limit ${count}) next) page
    where matches or nth = ${count}
    order by api_key_id ${order}, id ${order} limit $2`;
  const isUsual = count === FIRST_COMPARED && next.isUsual(order) && matching.isUsual(order);
  return { statement: { name: matching.nameOf(name), text, isUnprepared: !isUsual }, values };
}

const anyOf = (values: readonly string[]): string => `any(array[${values.map((value) => `'${value}'`).join(', ')}])`;

/**
 * True of every task. `source` and `kind` are the first columns of the index `tasks_facets` behind the key, and have few values: naming them all
 * opens it to a filter that has only one of the columns behind them.
 */
const EVERY_FACET = `and source = ${anyOf(TASK_SOURCES)} and kind = ${anyOf(MEDIA_KINDS)}`;

/**
 * The ids of all further tasks that match, sorted afterwards. Their order is hidden, because its index would be read to its end. Few tasks have
 * the same metadata, so without a facet that index is read alone, for any key.
 */
export function restOfMatches({ apiKeyId, filter, after, order, wanted }: Search): Bound {
  const conditions = new TaskConditions([apiKeyId, wanted]);
  conditions.where('after', after, (value) => `${hidden('id')} ${order === 'desc' ? '<' : '>'} ${value}`);
  conditions.restrictTimes(filter, { hidesId: true });
  conditions.restrictRest(filter);
  const text = `
    select id, version from (
      select id, ${ROW_VERSION} from tasks
      where ${indexedBy(filter)} and ${hiddenTime('expires_at')} > now()
        ${conditions.sql} ${PLANNED_SEPARATELY}) matching
    order by id ${order} limit $2`;
  const name = conditions.nameOf('tasks.match_rest', ...(order === 'asc' ? [order] : []));
  return { statement: { name, text, isUnprepared }, values: conditions.values };
}

/**
 * Tasks of the span that have these words, by the index of its partitions, or of a stretch of one. The other filters are applied to what was read,
 * so that the limit bounds the work.
 */
export function fewWithWords(search: Search, span: Span, words: string[]): Bound {
  const { apiKeyId, filter, after, order, wanted } = search;
  const values: unknown[] = [apiKeyId, wanted];
  const [next, matching] = [new TaskConditions(values), new TaskConditions(values)];
  const hidesId = span.partition !== undefined;
  next.where('after', after, (value) => `${hidesId ? hidden('id') : 'id'} ${order === 'desc' ? '<' : '>'} ${value}`);
  if (!hidesId) {
    next.where('', span.from, (value) => `id >= ${value}`);
    next.where('', span.to, (value) => `id < ${value}`);
  }
  next.restrictTimes(filter, { hidesId });
  for (const word of words) next.where('', patternOf(word), (value) => `${INDEXED_PROMPT} ilike ${value}::text`);
  matching.restrictRest(filter);
  const name = matching.nameOf(next.nameOf(`tasks.match_words ${words.length}`, ...(order === 'asc' ? [order] : [])));
  const table = escapeIdentifier(span.partition ?? 'tasks');
  const from = `${table} as tasks where ${INDEXED_KEY} = $1::text ${hidesId ? `and ${isOfStretch(span)}` : ''}`;
  const text = atMostMany(from, next, matching, order);
  return { statement: { name, text, isUnprepared }, values };
}

/** Tasks that the filter selects without its words, by an index. */
export function fewOfFilter({ apiKeyId, filter, after, order, wanted }: Search): Bound {
  const values: unknown[] = [apiKeyId, wanted];
  const [next, matching] = [new TaskConditions(values), new TaskConditions(values)];
  next.where('after', after, (value) => `${hidden('id')} ${order === 'desc' ? '<' : '>'} ${value}`);
  next.restrictTimes(filter, { hidesId: true });
  next.restrictRest({ ...filter, search: null });
  matching.restrictRest({ search: filter.search ?? null });
  const name = matching.nameOf(next.nameOf('tasks.match_few', ...(order === 'asc' ? [order] : [])));
  const text = atMostMany(`tasks where ${indexedBy(filter)}`, next, matching, order);
  return { statement: { name, text, isUnprepared }, values };
}

/** Hides the key as well from the index of words, which has it hidden, and would read all tasks of it (700,000: 118 ms). */
const KEY_OF_NO_INDEX = `('' || api_key_id)`;

const indexedBy = (filter: TaskFilter): string =>
  `${hasMetadata(filter) && !hasFacet(filter) ? KEY_OF_NO_INDEX : 'api_key_id'} = $1::text ${hasFacet(filter) ? EVERY_FACET : ''}`;

/** @param from tables and the first conditions */
const atMostMany = (from: string, next: TaskConditions, matching: TaskConditions, order: 'asc' | 'desc'): string => `
  select id, version, read from (
    select id, version, (true ${matching.sql}) is true as matches, count(*) over ()::int as read from (
      select ${SHOWN_COLUMNS}, ${ROW_VERSION} from ${from} and ${hiddenTime('expires_at')} > now() ${next.sql} limit ${MANY}) found) few
  where matches or read = ${MANY}
  order by id ${order} limit $2`;

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
  private async few({ statement, values }: Bound): Promise<Listed[] | null> {
    const rows = await this.sql.run<Listed & { read: number }>(statement, values).catch(noneIfDropped);
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
