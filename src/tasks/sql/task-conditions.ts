import { hidden } from '../../platform/database/planner.ts';
import { patternsOf } from '../record/search-words.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { idBoundAt } from '../../platform/schema/time.ts';
import { createdMsOf } from '../record/task-id.ts';

/**
 * A window of time is also read as a window of ids, so that tasks outside it cost nothing. Without that, finding the
 * oldest of 700,000 tasks took 0.7 s. The window of ids is wider by these seconds, because an id and `created_at` come
 * from two readings of the clock.
 */
const ID_SLACK_S = 60;
/** Names of conditions that are no filters: they say where a page of the list begins. */
const PLACES = ['after'];
/** Names of filters that are often used alone. Planning their statement each time would cost more than the page. */
const USUAL = ['queued', 'running', 'succeeded', 'failed', 'in:qr', 'kind', 'model', 'batch'];

/**
 * SQL for a `from`: unfinished tasks. It names the view, because a filter may name a column that only a final task has.
 * PostgreSQL still reads only `tasks_live`.
 */
export const UNFINISHED = `tasks where status in ('queued', 'running')`;

/** The conditions of a filter, as SQL with its values. */
export class TaskConditions {
  private readonly names: string[] = [];
  private readonly conditions: string[] = [];

  /**
   * @param values the first parameters of the statement
   * @param placeholder makes the SQL of the nth value
   */
  constructor(
    readonly values: unknown[],
    private readonly placeholder = (nth: number): string => `$${nth}`,
  ) {}

  restrict(filter: TaskFilter): void {
    this.restrictTimes(filter);
    this.restrictRest(filter);
  }

  /**
   * Adds the conditions on times.
   * @param hidesId writes an expression in place of `id`, so that PostgreSQL does not choose an index of ids
   */
  restrictTimes(filter: TaskFilter, { hidesId = false } = {}): void {
    this.where('from', filter.created_after, (value) => `created_at > to_timestamp(${value}::float8)`);
    this.whereId('', '>', idBound(filter.created_after, -ID_SLACK_S), { hidesId });
    this.where('to', filter.created_before, (value) => `created_at < to_timestamp(${value}::float8)`);
    this.whereId('', '<', idBound(filter.created_before, ID_SLACK_S), { hidesId });
  }

  whereId(name: string, operator: '<' | '>', id: string | null | undefined, { hidesId = false } = {}): void {
    this.where(name, id, (value) => `${hidesId ? hidden('id') : 'id'} ${operator} ${value}`);
  }

  /** Adds all conditions except those on times. */
  restrictRest(filter: TaskFilter): void {
    this.where('kind', filter.kind, (value) => `kind = ${value}`);
    this.where('model', filter.model, (value) => `model = ${value}`);
    this.where('by', filter.source, (value) => `source = ${value}`);
    this.where('of', filter.parent_task_id, (value) => `parent_task_id = ${value}`);
    if (typeof filter.batch_id === 'string') this.restrictToBatch(filter.batch_id);
    this.where('meta', jsonOf(filter.metadata), (value) => `metadata <> '{}' and metadata @> ${value}::jsonb`);
    if (filter.status) this.whereLiteral(filter.status, `status = '${filter.status}'`);
    if (filter.statuses) this.restrictToStatuses(filter.statuses);
    if (filter.error_code) this.whereLiteral('failed', `status = 'failed'`); // only failed tasks have an error
    this.where('err', filter.error_code, (value) => `error->>'code' = ${value}`);
    if (typeof filter.cancelled === 'boolean') this.restrictToCancelled(filter.cancelled);
    if (typeof filter.kept === 'boolean') this.restrictToKept(filter.kept);
    if (typeof filter.collection === 'string') this.restrictToKept(true); // kept tasks have an index
    this.where('in', filter.collection, (name) => `(collection = ${name} or ${hasOutputIn(name)})`);
    const patterns = typeof filter.search === 'string' ? patternsOf(filter.search) : undefined;
    this.where('words', patterns, (value) => `input->>'prompt' ilike all(${value}::text[])`);
  }

  /**
   * Adds a condition.
   * @param value null or undefined: adds nothing
   * @param condition makes the SQL from the placeholder of the value
   */
  where(name: string, value: unknown, condition: (placeholder: string) => string): void {
    if (value === undefined || value === null) return;
    this.values.push(value);
    this.conditions.push(`and ${condition(this.placeholder(this.values.length))}`);
    if (name) this.names.push(name);
  }

  get sql(): string {
    return this.conditions.join(' ');
  }

  /** A short name for a statement with these conditions. Equal names have equal texts. */
  nameOf(...parts: string[]): string {
    return [...parts, ...this.names].join(' ');
  }

  /**
   * Whether a statement with these conditions is worth preparing: it has no filter, or is newest first with one of the
   * usual filters. Filters can be combined in 100,000 ways, so all other statements are planned each time.
   */
  isUsual(order: 'asc' | 'desc' = 'desc'): boolean {
    const filters = this.names.filter((name) => !PLACES.includes(name));
    return filters.length === 0 || (filters.length === 1 && order === 'desc' && USUAL.includes(filters[0]!));
  }

  /** Writes the value into the statement, because a partial index, such as that of failed tasks, fits only a literal. */
  private whereLiteral(name: string, condition: string): void {
    this.conditions.push(`and ${condition}`);
    this.names.push(name);
  }

  /** A cancelled task is a failed one with the error `task_cancelled`. */
  private restrictToCancelled(cancelled: boolean): void {
    if (cancelled) this.whereLiteral('cancelled', `status = 'failed' and error->>'code' = 'task_cancelled'`);
    else this.whereLiteral('uncancelled', `(error->>'code') is distinct from 'task_cancelled'`);
  }

  private restrictToKept(kept: boolean): void {
    if (kept) this.whereLiteral('kept', 'kept_at is not null');
    else this.whereLiteral('unkept', 'kept_at is null');
  }

  /** Sorts the statuses, so that the same set makes the same statement. */
  private restrictToStatuses(statuses: readonly string[]): void {
    const sorted = statuses.toSorted();
    const literals = sorted.map((status) => `'${status}'`).join(', ');
    this.whereLiteral(`in:${sorted.map((status) => status[0]).join('')}`, `status in (${literals})`);
  }

  /**
   * The ids of a batch's tasks contain the time at which the batch was created, so bounds on the id keep the read of
   * the index short. A malformed id of a batch matches nothing.
   */
  private restrictToBatch(batchId: string): void {
    const createdMs = createdMsOf(batchId);
    if (createdMs === null) return this.whereLiteral('nothing', 'false');
    this.where('batch', batchId, (value) => `batch_id = ${value}`);
    this.whereId('', '>', idBoundAt(createdMs));
    this.whereId('', '<', idBoundAt(createdMs + 1));
  }
}

const hasOutputIn = (name: string): string =>
  `exists (select from json_array_elements(result) as output where output->>'collection' = ${name})`;

const idBound = (unixS: number | null | undefined, slackS: number): string | undefined =>
  typeof unixS === 'number' ? idBoundAt((unixS + slackS) * 1000) : undefined;

const jsonOf = (metadata: Record<string, string> | null | undefined): string | undefined =>
  metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined;
