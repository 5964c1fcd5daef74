import { Injectable } from '@nestjs/common';
import { MEDIA_KINDS } from '../../models/media-kind.ts';
import { equalsOrdered, hidden, hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { TaskFilter } from '../list/task-filter.ts';
import { TASK_SOURCES } from '../task-origin.ts';
import { type Listed, type PageRequest, UNFINISHED_COLUMNS } from './page-of-tasks.ts';
import { SHOWN_COLUMNS } from '../task.entity.ts';
import { TaskConditions } from './task-conditions.ts';

/** Tasks that are compared in the order of the list before an index is asked. 2,000 prompts take some 8 ms. */
const FIRST_COMPARED = 2_000;
/** Words have no index, so they are looked for among more and more tasks, the last number again and again. */
const COMPARED = [FIRST_COMPARED, 16 * FIRST_COMPARED, 256 * FIRST_COMPARED];

interface Bound {
  statement: Statement;
  values: unknown[];
}

/** What to look for, and how many rows of it. */
interface Search {
  apiKeyId: string;
  filter: TaskFilter;
  after: string | null | undefined;
  order: 'asc' | 'desc';
  wanted: number;
}

/**
 * Pages of filters that many tasks of the key may match, or none. Where many do, a page is found at once in the order of the list. Where few do,
 * that would read every task of the key, so the rest is found by an index and sorted. PostgreSQL cannot choose between the two, because it plans
 * a statement once, for any value.
 */
@Injectable()
export class MatchTasks {
  constructor(private readonly sql: Sql) {}

  /** Whether the list in its order may have to pass many tasks that do not match. */
  static isFor(filter: TaskFilter): boolean {
    if (filter.batch_id || filter.parent_task_id) return false; // their own indexes have few tasks
    return isIndexed(filter) || Boolean(filter.search);
  }

  /** The page and one row more. */
  async rows(apiKeyId: string, filter: TaskFilter, { limit, after, order = 'desc' }: PageRequest): Promise<Listed[]> {
    const found: Listed[] = [];
    const search: Search = { apiKeyId, filter, after, order, wanted: limit + 1 };
    for (let step = 0; step === 0 || !isIndexed(filter); step += 1) {
      const count = COMPARED[step] ?? COMPARED.at(-1)!;
      const { statement, values } = compared(search, count);
      const rows = await this.sql.run<Listed & { nth: number; matches: boolean }>(statement, values);
      found.push(...rows.filter(({ matches }) => matches));
      const last = rows.at(-1);
      if (found.length > limit || last?.nth !== count) return found.slice(0, limit + 1);
      search.after = last.id;
      search.wanted = limit + 1 - found.length;
    }
    const { statement, values } = restOfMatches(search);
    return [...found, ...(await this.sql.run<Listed>(statement, values))];
  }
}

const hasFacet = ({ kind, model, source }: TaskFilter): boolean => Boolean(kind || model || source);
const isIndexed = (filter: TaskFilter): boolean => hasFacet(filter) || Boolean(filter.metadata || filter.error_code);

/** The next tasks of the list that match, and the last one that was compared, whether it matches or not. */
function compared({ apiKeyId, filter, after, order, wanted }: Search, count: number): Bound {
  const values: unknown[] = [apiKeyId, wanted];
  const [next, matching] = [new TaskConditions(values), new TaskConditions(values)];
  next.where('after', after, (value) => `id ${order === 'desc' ? '<' : '>'} ${value}`);
  next.restrictTimes(filter);
  matching.restrictRest(filter);
  const name = next.nameOf(`tasks.match ${count}`, ...(order === 'asc' ? [order] : []));
  const text = `
    select page.id, page.nth, page.matches, unfinished.* from (
      select next.*, (true ${matching.sql}) is true as matches from (
        select ${SHOWN_COLUMNS}, row_number() over (order by api_key_id ${order}, id ${order})::int as nth from tasks
        where ${equalsOrdered('api_key_id', '$1::text')} and ${hiddenTime('expires_at')} > now() ${next.sql}
        order by api_key_id ${order}, id ${order} limit ${count}) next) page
    left join lateral (select ${UNFINISHED_COLUMNS}) unfinished on page.status in ('queued', 'running')
    where page.matches or page.nth = ${count}
    order by page.api_key_id ${order}, page.id ${order} limit $2`;
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
  const key = filter.metadata && !hasFacet(filter) ? hidden('api_key_id') : 'api_key_id';
  const text = `
    select id, null as status from (
      select id from tasks
      where ${key} = $1::text ${hasFacet(filter) ? EVERY_FACET : ''} and ${hiddenTime('expires_at')} > now()
        ${conditions.sql} ${PLANNED_SEPARATELY}) matching
    order by id ${order} limit $2`;
  const name = conditions.nameOf('tasks.match_rest', ...(order === 'asc' ? [order] : []));
  return { statement: { name, text }, values: conditions.values };
}
