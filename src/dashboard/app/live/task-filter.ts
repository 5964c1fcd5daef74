import { FAILURES } from '../api/error-words.ts';
import type { ResultOf } from '../api/graphql.ts';
import type { TaskRowFields } from './task.documents.ts';
import type { TaskRow } from './task-store.ts';

/** What the address of a list says; every field as text. */
export interface TaskSearch {
  status?: string;
  kind?: string;
  model?: string;
  from?: string;
  to?: string;
  /** Words of the prompt. */
  q?: string;
  /** The code of a failure, as REST spells it. */
  error?: string;
  /** A pair that the task carries. */
  [pair: MetadataField]: string | undefined;
}

export type MetadataField = `meta.${string}`;

export const STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;

/** As the service counts them. */
export const MAX_PAIRS = 16;
const META = 'meta.';

/** The pairs of an address, by their names. */
export const metadataOf = (search: TaskSearch): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([name, value]) => name.startsWith(META) && name.length > META.length && value !== undefined)
      .slice(0, MAX_PAIRS)
      .map(([name, value]) => [name.slice(META.length), value as string]),
  );

type ErrorCode = NonNullable<ResultOf<typeof TaskRowFields>['error']>['code'];
const isErrorCode = (text: string | undefined): text is ErrorCode => text !== undefined && text in FAILURES;

interface TaskFilter {
  status?: TaskRow['status'];
  kind?: TaskRow['kind'];
  model?: string;
  createdAfter?: number;
  createdBefore?: number;
  search?: string;
  errorCode?: ErrorCode;
  metadata?: Record<string, string>;
}

/** The filter of the API. What the address has misspelt is left out. */
export function filterOf(searched: TaskSearch): TaskFilter {
  const { status, kind, model, from, to, q, error } = searched;
  const filter: TaskFilter = {};
  if (status && (STATUSES as readonly string[]).includes(status))
    filter.status = status.toUpperCase() as TaskRow['status'];
  if (kind === 'image' || kind === 'video') filter.kind = kind.toUpperCase() as TaskRow['kind'];
  if (model) filter.model = model;
  if (Number(from) > 0) filter.createdAfter = Number(from);
  if (Number(to) > 0) filter.createdBefore = Number(to);
  if (q?.trim()) filter.search = q.trim();
  const code = error?.toUpperCase();
  if (isErrorCode(code)) filter.errorCode = code;
  const metadata = metadataOf(searched);
  if (Object.keys(metadata).length > 0) filter.metadata = metadata;
  return filter;
}

/** Whether a row that the feed brought belongs into a list with this filter, as far as a row tells: it has no metadata. */
export function matches(
  row: TaskRow,
  { status, kind, model, createdAfter, createdBefore, search, errorCode }: TaskFilter,
): boolean {
  return (
    (!status || row.status === status) &&
    (!kind || row.kind === kind) &&
    (!model || row.model === model) &&
    (!createdAfter || row.createdAt > createdAfter) &&
    (!createdBefore || row.createdAt < createdBefore) &&
    (!errorCode || row.error?.code === errorCode) &&
    (!search || wordsOf(search).every((word) => row.prompt.toLowerCase().includes(word)))
  );
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/);

export const isFiltered = (search: TaskSearch): boolean => Object.values(filterOf(search)).length > 0;
