import { FAILURES } from '../api/error-words.ts';
import type { ResultOf } from '../api/graphql.ts';
import type { TaskRowFields } from './task.documents.ts';
import type { TaskRow } from './task-store.ts';

/** What the address of a list says; every field as text. */
export interface TaskSearch {
  /** One status, or several with commas. */
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
/** The value of an address. */
export const UNFINISHED = 'queued,running';

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
  statuses?: TaskRow['status'][];
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
  const statuses = STATUSES.filter((known) => status?.split(',').includes(known));
  if (statuses.length > 0) filter.statuses = statuses.map((known) => known.toUpperCase() as TaskRow['status']);
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
  { statuses, kind, model, createdAfter, createdBefore, search, errorCode }: TaskFilter,
): boolean {
  return (
    (!statuses || statuses.includes(row.status)) &&
    (!kind || row.kind === kind) &&
    (!model || row.model === model) &&
    (!createdAfter || row.createdAt > createdAfter) &&
    (!createdBefore || row.createdAt < createdBefore) &&
    (!errorCode || row.error?.code === errorCode) &&
    (!search || wordsOf(search).every((word) => row.prompt.toLowerCase().includes(word)))
  );
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/);

/** The states of unfinished tasks that the address selects. */
export const unfinishedOf = (search: TaskSearch): TaskRow['status'][] =>
  (filterOf(search).statuses ?? ['QUEUED', 'RUNNING']).filter((status) => status === 'QUEUED' || status === 'RUNNING');

/** For sentences such as "Cancel all queued". */
export const unfinishedWord = (search: TaskSearch): string => {
  const [status, ...others] = unfinishedOf(search);
  return status && others.length === 0 ? status.toLowerCase() : 'unfinished';
};

export const isFiltered = (search: TaskSearch): boolean => Object.values(filterOf(search)).length > 0;
