import { FAILURES } from '../api/error-words.ts';
import { unixOf } from '../format/time.ts';
import type { ResultOf } from '../api/graphql.ts';
import type { TaskRowFields } from './task.documents.ts';
import { isCancelled, type TaskRow } from './task-store.ts';

/** The parameters of the address of a list, all as text. */
export interface TaskSearch {
  /** One status, or several with commas between them. */
  status?: string;
  kind?: string;
  model?: string;
  from?: string;
  to?: string;
  /** Words to find in the prompt. */
  q?: string;
  /** The error code, as in REST. */
  error?: string;
  /** `1`: only kept tasks. */
  kept?: string;
  /** The name of the collection. */
  collection?: string;
  /** The batch that the task is an item of. */
  batch?: string;
  /** A pair of metadata that the task must have. */
  [pair: MetadataField]: string | undefined;
}

export type MetadataField = `meta.${string}`;

/**
 * The states to filter by. Cancelled tasks are listed apart from other failed ones, because nothing went wrong with
 * them.
 */
export const STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
type State = (typeof STATES)[number];
/** The value of `status` for all unfinished tasks. */
export const UNFINISHED = 'queued,running';

/** The service accepts at most this many pairs of metadata. */
export const MAX_PAIRS = 16;
const META = 'meta.';

/** The pairs of metadata in an address, by their names. */
export const metadataOf = (search: TaskSearch): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([name, value]) => name.startsWith(META) && name.length > META.length && value !== undefined)
      .slice(0, MAX_PAIRS)
      .map(([name, value]) => [name.slice(META.length), value as string]),
  );

type ErrorCode = NonNullable<ResultOf<typeof TaskRowFields>['error']>['code'];
const isErrorCode = (text: string | undefined): text is ErrorCode => text !== undefined && text in FAILURES;

export interface TaskFilter {
  statuses?: TaskRow['status'][];
  kind?: TaskRow['kind'];
  model?: string;
  createdAfter?: number;
  createdBefore?: number;
  search?: string;
  errorCode?: ErrorCode;
  cancelled?: boolean;
  kept?: true;
  collection?: string;
  batchId?: string;
  metadata?: Record<string, string>;
}

/** The states that an address names. */
export const statesOf = ({ status }: TaskSearch): State[] => {
  const named = status?.split(',') ?? [];
  return STATES.filter((state) => named.includes(state));
};

/** The filter for the API. Misspelt parameters are left out. */
export function filterOf(searched: TaskSearch): TaskFilter {
  const { kind, model, from, to, q, error, batch, kept, collection } = searched;
  const filter: TaskFilter = {};
  const states = statesOf(searched);
  const statuses = new Set(states.map((state) => (state === 'cancelled' ? 'failed' : state)));
  if (states.length > 0) filter.statuses = [...statuses].map((known) => known.toUpperCase() as TaskRow['status']);
  const [wantsFailed, wantsCancelled] = [states.includes('failed'), states.includes('cancelled')];
  if (wantsFailed !== wantsCancelled) filter.cancelled = wantsCancelled;
  if (kind === 'image' || kind === 'video') filter.kind = kind.toUpperCase() as TaskRow['kind'];
  if (model) filter.model = model;
  const [after, before] = [unixOf(from), unixOf(to)];
  if (after !== null) filter.createdAfter = Math.floor(after);
  if (before !== null) filter.createdBefore = Math.floor(before);
  if (q?.trim()) filter.search = q.trim();
  const code = error?.toUpperCase();
  if (isErrorCode(code)) filter.errorCode = code;
  if (kept === '1') filter.kept = true;
  if (collection) filter.collection = collection;
  if (batch) filter.batchId = batch;
  const metadata = metadataOf(searched);
  if (Object.keys(metadata).length > 0) filter.metadata = metadata;
  return filter;
}

/**
 * Whether a row that the feed brought belongs in a list with this filter. Metadata and the batch are not compared,
 * because a row does not have them.
 */
export function matches(
  row: TaskRow,
  { statuses, kind, model, createdAfter, createdBefore, search, errorCode, cancelled, kept, collection }: TaskFilter,
): boolean {
  return (
    (!statuses || statuses.includes(row.status)) &&
    (!kind || row.kind === kind) &&
    (!model || row.model === model) &&
    (!createdAfter || row.createdAt > createdAfter) &&
    (!createdBefore || row.createdAt < createdBefore) &&
    (!errorCode || row.error?.code === errorCode) &&
    (!kept || row.kept) &&
    (!collection || row.collection === collection || row.outputs.some((each) => each.collection === collection)) &&
    (cancelled === undefined || isCancelled(row) === cancelled) &&
    (!search || wordsOf(search).every((word) => row.prompt.toLowerCase().includes(word)))
  );
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/);

/** The states of unfinished tasks that the address selects. */
export const unfinishedOf = (search: TaskSearch): TaskRow['status'][] =>
  (filterOf(search).statuses ?? ['QUEUED', 'RUNNING']).filter((status) => status === 'QUEUED' || status === 'RUNNING');

/** The word for the selected unfinished tasks, in sentences such as "Cancel all queued". */
export const unfinishedWord = (search: TaskSearch): string => {
  const [status, ...others] = unfinishedOf(search);
  return status && others.length === 0 ? status.toLowerCase() : 'unfinished';
};

export const isFiltered = (search: TaskSearch): boolean => Object.values(filterOf(search)).length > 0;
