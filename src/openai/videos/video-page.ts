import { isTaskId } from '../../tasks/record/task-id.ts';
import { invalid } from '../request/fields.ts';

export interface VideoPage {
  limit: number;
  after: string | undefined;
  order: 'asc' | 'desc';
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** Reads the page from the query string. Unknown parameters are ignored. */
export function readVideoPage(query: Record<string, unknown>): VideoPage {
  const limit = textOf(query, 'limit') ?? String(DEFAULT_LIMIT);
  if (!/^[0-9]{1,9}$/.test(limit)) throw invalid('limit', 'invalid_type', 'limit must be an integer.');
  if (Number(limit) < 1 || Number(limit) > MAX_LIMIT) {
    throw invalid('limit', 'value_out_of_range', `limit must be from 1 to ${MAX_LIMIT}.`);
  }
  const after = textOf(query, 'after');
  if (after !== undefined && !isTaskId(after))
    throw invalid('after', 'invalid_value', 'after must be the id of a video.');
  const order = textOf(query, 'order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'invalid_value', 'order must be asc or desc.');
  return { limit: Number(limit), after, order };
}

/** @throws ApiError invalid_type for a parameter that is given twice */
export function textOf(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(name, 'invalid_type', `${name} may be given only once.`);
}
