import { escapeIdentifier } from 'pg';
import { MEDIA_KINDS } from '../../models/definition/media-kind.ts';
import { equalsOrdered, hidden, hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import type { Statement } from '../../platform/database/sql.ts';
import { patternOf } from '../record/search-words.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { TASK_SOURCES } from '../record/task-origin.ts';
import { SHOWN_COLUMNS } from '../record/task.entity.ts';
import { ROW_VERSION } from '../record/task-version.ts';
import { TaskConditions } from './task-conditions.ts';
import { INDEXED_KEY, INDEXED_PROMPT, type Span } from './word-indexes.ts';
import { isOfStretch } from './word-stretches.ts';

/** A word that so many tasks have is found sooner in the order of the list, or by another filter. The index reads this many in some 10 ms. */
export const MANY = 2_000;

export interface Bound {
  statement: Statement;
  values: unknown[];
  /** Its text is soon out of date: no connection keeps its plan. */
  isPassing?: boolean;
}

/** What to look for, and how many rows of it. */
export interface Search {
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
export const isIndexed = (filter: TaskFilter): boolean =>
  hasFacet(filter) || hasMetadata(filter) || Boolean(filter.error_code);

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
  return { statement: { name: matching.nameOf(name), text }, values };
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
  return { statement: { name, text }, values: conditions.values };
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
  return { statement: { name, text }, values, isPassing: hidesId };
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
  return { statement: { name, text: atMostMany(`tasks where ${indexedBy(filter)}`, next, matching, order) }, values };
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
