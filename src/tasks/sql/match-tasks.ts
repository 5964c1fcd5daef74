import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { patternOf, wordsOf } from '../record/search-words.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import type { Listed, PageRequest } from './page-of-tasks.ts';
import { MEDIA_KINDS } from '../../models/definition/media-kind.ts';
import { equalsOrdered, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { TASK_SOURCES } from '../record/task-origin.ts';
import { SHOWN_COLUMNS } from '../record/task.entity.ts';
import { TaskConditions, UNFINISHED } from './task-conditions.ts';
import { TaskWordsIndex } from './task-words.ts';

/**
 * The most tasks that are read from an index. If more tasks have a word, a page is found sooner by reading the list in
 * its order, or by another field of the filter. Reading this many tasks from the index of words takes some 10 ms.
 */
const MANY = 2_000;

interface Bound {
  statement: Statement;
  values: unknown[];
}

/** These statements are not prepared, because filters can be combined in 100,000 ways. */
const isUnprepared = true;

/** What to look for, and how many rows are wanted. */
interface Search {
  apiKeyId: string;
  filter: TaskFilter;
  after: string | null | undefined;
  order: 'asc' | 'desc';
  wanted: number;
  /** Whether many of the tasks that have been compared match the filter without its words. */
  isCommon?: boolean;
}

const hasFacet = ({ kind, model, source }: TaskFilter): boolean => Boolean(kind || model || source);
const hasMetadata = ({ metadata }: TaskFilter): boolean => Object.keys(metadata ?? {}).length > 0;
const isIndexed = (filter: TaskFilter): boolean =>
  hasFacet(filter) || hasMetadata(filter) || Boolean(filter.error_code) || filter.cancelled === true;

/**
 * Finds those of the next `count` tasks of the list that match, and the last of these `count` tasks even if it does not
 * match. In each row, `beside` is the number of tasks up to this one that match the filter without its words.
 */
export function compared({ apiKeyId, filter, after, order, wanted }: Search, count: number): Bound {
  const values: unknown[] = [apiKeyId, wanted];
  const [next, matching] = [new TaskConditions(values), new TaskConditions(values)];
  next.whereId('after', order === 'desc' ? '<' : '>', after);
  next.restrictTimes(filter);
  matching.restrictRest(filter);
  const beside = new TaskConditions(values);
  if (filter.search) beside.restrictRest({ ...filter, search: null });
  const name = next.nameOf(`tasks.match ${count}`, ...(order === 'asc' ? [order] : []));
  const text = `
    select id, sequence, nth, beside, matches from (
      select next.*, (true ${matching.sql}) is true as matches from (
        select ${SHOWN_COLUMNS}, row_number() over so_far::int as nth,
               ${beside.sql ? `count(*) filter (where true ${beside.sql}) over so_far::int` : 'null'} as beside
        from tasks
        where ${equalsOrdered('api_key_id', '$1::text')} and expires_at > now() ${next.sql}
        window so_far as (order by api_key_id ${order}, id ${order} rows unbounded preceding)
        order by api_key_id ${order}, id ${order} limit ${count}) next) page
    where matches or nth = ${count}
    order by api_key_id ${order}, id ${order} limit $2`;
  const isUsual = count === FIRST_COMPARED && next.isUsual(order) && matching.isUsual(order);
  return { statement: { name: matching.nameOf(name), text, isUnprepared: !isUsual }, values };
}

const anyOf = (values: readonly string[]): string => `any(array[${values.map((value) => `'${value}'`).join(', ')}])`;

/**
 * A condition that is true of every task. In the index `tasks_done_facets`, `source` and `kind` come first after the
 * key and have few values. The condition names all these values, so that a filter on one later column can use the
 * index.
 */
const EVERY_FACET = `and source = ${anyOf(TASK_SOURCES)} and kind = ${anyOf(MEDIA_KINDS)}`;

/**
 * Finds all further tasks that match, and sorts them afterwards. The order is hidden from the planner, which would
 * otherwise read an index in this order to its end. Few tasks have the same metadata. So a filter on metadata alone
 * reads only the index of metadata, which spans all keys.
 */
export function restOfMatches({ apiKeyId, filter, after, order, wanted }: Search): Bound {
  const conditions = new TaskConditions([apiKeyId, wanted]);
  conditions.whereId('after', order === 'desc' ? '<' : '>', after, { hidesId: true });
  conditions.restrictTimes(filter, { hidesId: true });
  conditions.restrictRest(filter);
  const text = `
    select * from (${byIndex('id, sequence', filter, conditions)} ${PLANNED_SEPARATELY}) matching
    order by id ${order} limit $2`;
  const name = conditions.nameOf('tasks.match_rest', ...(order === 'asc' ? [order] : []));
  return { statement: { name, text, isUnprepared }, values: conditions.values };
}

/**
 * Uses an index to find the tasks that match all fields of the filter except `search`. Then compares the words of
 * `search` with the prompts of these tasks.
 */
export function fewOfFilter({ apiKeyId, filter, after, order, wanted }: Search): Bound {
  const values: unknown[] = [apiKeyId, wanted];
  const [next, matching] = [new TaskConditions(values), new TaskConditions(values)];
  next.whereId('after', order === 'desc' ? '<' : '>', after, { hidesId: true });
  next.restrictTimes(filter, { hidesId: true });
  next.restrictRest({ ...filter, search: null });
  matching.restrictRest({ search: filter.search ?? null });
  const name = matching.nameOf(next.nameOf('tasks.match_few', ...(order === 'asc' ? [order] : [])));
  const text = atMostMany(byIndex(SHOWN_COLUMNS, filter, next), matching, order);
  return { statement: { name, text, isUnprepared }, values };
}

type Four = [TaskConditions, TaskConditions, TaskConditions, TaskConditions];

/**
 * Tasks that have these words: unfinished ones, those that have ended since the index was filled, and those in the
 * index. The whole filter is applied to what the index gives, so that the limit bounds the work.
 */
export function withWords({ apiKeyId, filter, after, order, wanted }: Search, words: string[]): Bound {
  const values: unknown[] = [apiKeyId, wanted];
  const [behind, late, said, matching] = Array.from({ length: 4 }, () => new TaskConditions(values)) as Four;
  behind.whereId('after', order === 'desc' ? '<' : '>', after);
  late.whereId('', order === 'desc' ? '<' : '>', after, { hidesId: true });
  for (const word of words) said.where('', patternOf(word), (value) => `prompt ilike ${value}::text`);
  matching.restrict(filter);
  const text = `
    with state as materialized (
      select through from words_state
    ), named as materialized (
      select id from task_words where api_key_id = $1::text ${said.sql} ${behind.sql} limit ${MANY}
    ), found as (
      (select id, sequence from ${UNFINISHED}
         and ${equalsOrdered('api_key_id', '$1::text')} and expires_at > now() ${behind.sql} ${matching.sql}
       order by api_key_id ${order}, id ${order} limit $2)
      union all
      select id, sequence from tasks_done
      where api_key_id = $1::text and completed_at > (select through from state) and expires_at > now() ${late.sql} ${matching.sql}
      union all
      select id, sequence from tasks_done
      where id = any(array(select id from named)) and completed_at <= (select through from state) and expires_at > now() ${matching.sql}
    )
    select read, found.* from (select count(*)::int as read from named) named left join found on true
    order by id ${order} limit $2`;
  const name = matching.nameOf(behind.nameOf(`tasks.match_words ${words.length}`, ...(order === 'asc' ? [order] : [])));
  return { statement: { name, text, isUnprepared }, values };
}

/** SQL: the column `api_key_id`, hidden so that the planner uses no index that begins with it. */
const KEY_OF_NO_INDEX = `('' || api_key_id)`;

/**
 * SQL: the tasks that match. Unfinished tasks of the key are few, so they are compared; final ones are found by an
 * index. Few tasks have the same metadata, so a filter on metadata reads the indexes of metadata, which span all keys.
 * If the filter also has a kind, a model or a source, final tasks are found by the index `tasks_done_facets`.
 */
function byIndex(columns: string, filter: TaskFilter, { sql }: TaskConditions): string {
  const facet = hasFacet(filter) ? EVERY_FACET : '';
  const liveKey = hasMetadata(filter) ? KEY_OF_NO_INDEX : 'api_key_id';
  const key = facet ? 'api_key_id' : liveKey;
  return `
      select ${columns} from ${UNFINISHED} and ${liveKey} = $1::text and expires_at > now() ${sql}
      union all
      select ${columns} from tasks_done where ${key} = $1::text ${facet} and expires_at > now() ${sql}`;
}

/**
 * SQL: compares at most MANY of the found tasks, and says in `read` how many it has compared.
 * @param found SQL of a query for tasks
 */
const atMostMany = (found: string, matching: TaskConditions, order: 'asc' | 'desc'): string => `
  select id, sequence, read from (
    select id, sequence, (true ${matching.sql}) is true as matches, count(*) over ()::int as read from (
      select * from (${found}) them limit ${MANY}) found) few
  where matches or read = ${MANY}
  order by id ${order} limit $2`;

/** How many tasks are compared in the order of the list before an index is used. 2,000 prompts take some 8 ms. */
const FIRST_COMPARED = 2_000;
/** How many tasks the steps compare for words that no index finds: the first step, the second and all later ones. */
const COMPARED = [FIRST_COMPARED, 16 * FIRST_COMPARED, 256 * FIRST_COMPARED];

/**
 * If at least this many of the tasks that are compared first match the filter without its words, the index for the
 * filter is not read, because it probably has more than MANY matches.
 */
const COMMON = 20;

/**
 * Pages of filters that may match many tasks of the key, or none. If many match, reading the list in its order finds a
 * page at once. If few match, that way would read every task of the key, so the rest is found by an index and sorted.
 * PostgreSQL cannot choose between the two ways, because it plans a statement once, for any value.
 */
@Injectable()
export class MatchTasks {
  constructor(
    private readonly sql: Sql,
    private readonly words: TaskWordsIndex,
  ) {}

  /** Whether reading the list in its order may pass many tasks that do not match. */
  static isFor(filter: TaskFilter): boolean {
    // Each of these fields selects few tasks, which an index finds.
    if (filter.batch_id || filter.parent_task_id || filter.kept || filter.collection) return false;
    return isIndexed(filter) || Boolean(filter.search);
  }

  /** Reads the page and one row more. */
  async rows(apiKeyId: string, filter: TaskFilter, { limit, after, order = 'desc' }: PageRequest): Promise<Listed[]> {
    const found: Listed[] = [];
    const search: Search = { apiKeyId, filter, after, order, wanted: limit + 1 };
    if (await this.compare(search, FIRST_COMPARED, found)) return found;
    const words = filter.search ? await this.words.findable(wordsOf(filter.search)) : [];
    const few =
      (filter.search && isIndexed(filter) && !search.isCommon ? await this.few(fewOfFilter(search)) : null) ??
      (words.length > 0 ? await this.few(withWords(search, words)) : null);
    if (few) return [...found, ...few];
    if (isIndexed(filter)) return [...found, ...(await this.rest(search))];
    for (let step = 1; ; step += 1) {
      if (await this.compare(search, COMPARED[step] ?? COMPARED.at(-1)!, found)) return found;
    }
  }

  /** Compares the next tasks in the order of the list. @returns whether the page is full or the list has ended */
  private async compare(search: Search, count: number, found: Listed[]): Promise<boolean> {
    const { statement, values } = compared(search, count);
    type Row = Listed & { nth: number; matches: boolean; beside: number | null };
    const rows = await this.sql.run<Row>(statement, values);
    const matching = rows.filter(({ matches }) => matches).slice(0, search.wanted);
    found.push(...matching);
    search.wanted -= matching.length;
    const last = rows.at(-1);
    if (search.wanted === 0 || last?.nth !== count) return true;
    search.isCommon ||= (last.beside ?? 0) >= COMMON;
    search.after = last.id;
    return false;
  }

  private rest(search: Search): Promise<Listed[]> {
    const { statement, values } = restOfMatches(search);
    return this.sql.run<Listed>(statement, values);
  }

  /** @returns null if the index may have more matches than were read */
  private async few({ statement, values }: Bound): Promise<Listed[] | null> {
    const rows = await this.sql.run<(Listed | { id: null }) & { read: number }>(statement, values);
    return rows[0]?.read === MANY ? null : rows.filter((row): row is Listed & { read: number } => row.id !== null);
  }
}
