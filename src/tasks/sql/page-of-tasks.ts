import { currentRequest } from '../../platform/observe/logging/request-context.ts';
import type { ShownTask } from '../record/task.entity.ts';

export interface PageRequest {
  /** 1 to 100. */
  limit: number;
  /** Id of the last task of the previous page. */
  after?: string | null | undefined;
  /** `desc`, newest first, when absent. */
  order?: 'asc' | 'desc';
}

export interface TaskPage {
  /** Newest first, unless the request says otherwise. */
  tasks: ShownTask[];
  hasMore: boolean;
}

/** A row of a page. What clients see of a task that is not running changes only with its `sequence`. */
export type Listed = Pick<ShownTask, 'id' | 'sequence'>;

/**
 * The most characters of inputs and metadata, as JSON, in the lists of one request. A list that passes it ends early,
 * after at least one task. Without it a hundred of the longest inputs are an answer of 19 MB, whose making holds up all
 * other requests for a third of a second.
 */
export const LISTED_CHARACTERS = 262_144;

type Texts = Pick<ShownTask, 'input' | 'metadata'>;

/**
 * Counts the texts of a task that a list shows in the present request.
 * @returns about how many characters the request has listed so far
 */
export function countListed(task: Texts): number {
  const request = currentRequest.getStore();
  if (!request) return charactersOf(task);
  request.listedCharacters = (request.listedCharacters ?? 0) + charactersOf(task);
  return request.listedCharacters;
}

/** About how many characters the input and the metadata of a task have as JSON. */
export const charactersOf = ({ input, metadata }: Texts): number => charactersIn(input) + charactersIn(metadata);

/** Longer texts are measured as JSON, where a control character takes six. */
const SHORT_CHARACTERS = 250;
/** Fields are measured once for all lists and streams that show it. */
const measured = new WeakMap<object, number>();

function charactersIn(fields: Record<string, unknown>): number {
  const known = measured.get(fields);
  if (known !== undefined) return known;
  let characters = 0;
  for (const name in fields) {
    const value = fields[name];
    for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof text !== 'string') continue;
      characters += text.length > SHORT_CHARACTERS ? JSON.stringify(text).length : text.length;
    }
  }
  measured.set(fields, characters);
  return characters;
}
