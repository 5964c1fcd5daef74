import { ApiError } from '../../errors/api-error.ts';
import { MEDIA_KINDS } from '../../models/media-kind.ts';
import type { TaskFilter } from './list-tasks.ts';
import { isTaskId } from '../task-id.ts';
import { MAX_WAIT_S } from '../live/until-final.ts';
import { TASK_STATUSES } from '../task-status.ts';

export interface ListTasksQuery {
  filter: TaskFilter;
  limit: number;
  after: string | undefined;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_UNIX_S = 253_402_300_799; // the year 9999
const METADATA = /^metadata\[(.+)\]$/s;
const NAMES = ['limit', 'after', 'status', 'kind', 'model', 'created_after', 'created_before'];

/**
 * Reads the query string of the list: everything is text there, and nothing is coerced silently.
 * @throws ApiError naming the parameter
 */
export function parseListTasks(query: Record<string, unknown>): ListTasksQuery {
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    const [, key] = METADATA.exec(name) ?? [];
    if (key !== undefined) {
      Object.defineProperty(metadata, text(name, key), { value: text(name, value), enumerable: true });
    } else if (!NAMES.includes(name)) {
      throw new ApiError('unknown_parameter', {
        param: name,
        message: `There is no such parameter. A list takes ${NAMES.join(', ')} and metadata[key].`,
      });
    }
  }
  const after = optional(query, 'after', text);
  if (after !== undefined && !isTaskId(after)) {
    throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of a task.' });
  }
  return {
    filter: {
      status: optional(query, 'status', oneOf(TASK_STATUSES)),
      kind: optional(query, 'kind', oneOf(MEDIA_KINDS)),
      model: optional(query, 'model', text),
      createdAfter: optional(query, 'created_after', integer(0, MAX_UNIX_S)),
      createdBefore: optional(query, 'created_before', integer(0, MAX_UNIX_S)),
      metadata,
    },
    limit: optional(query, 'limit', integer(1, MAX_LIMIT)) ?? DEFAULT_LIMIT,
    after,
  };
}

type Read<T> = (name: string, value: unknown) => T;

function optional<T>(query: Record<string, unknown>, name: string, read: Read<T>): T | undefined {
  return query[name] === undefined ? undefined : read(name, query[name]);
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string') {
    throw new ApiError('invalid_type', { param: name, message: `${name} may be given once only.` });
  }
  if (value.includes('\0') || !value.isWellFormed()) throw new ApiError('invalid_unicode', { param: name });
  return value;
}

function oneOf<const T extends string>(allowed: readonly T[]): Read<T> {
  return (name, value) => {
    const given = text(name, value);
    if ((allowed as readonly string[]).includes(given)) return given as T;
    throw new ApiError('invalid_value', { param: name, message: `${name} must be one of ${allowed.join(', ')}.` });
  };
}

function integer(min: number, max: number): Read<number> {
  return (name, value) => {
    const given = text(name, value);
    if (!/^-?[0-9]{1,15}$/.test(given)) {
      throw new ApiError('invalid_type', { param: name, message: `${name} must be an integer.` });
    }
    const number = Number(given);
    if (number >= min && number <= max) return number;
    throw new ApiError('value_out_of_range', { param: name, message: `${name} must be from ${min} to ${max}.` });
  };
}

/**
 * Reads `?wait=` of a single task, the only parameter it takes.
 * @returns seconds, 0 to 60
 */
export function readWait(query: Record<string, unknown>): number {
  for (const name of Object.keys(query)) {
    if (name !== 'wait') throw new ApiError('unknown_parameter', { param: name });
  }
  return optional(query, 'wait', integer(0, MAX_WAIT_S)) ?? 0;
}
