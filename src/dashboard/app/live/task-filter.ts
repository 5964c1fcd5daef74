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
}

export const STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;

interface TaskFilter {
  status?: TaskRow['status'];
  kind?: TaskRow['kind'];
  model?: string;
  createdAfter?: number;
  createdBefore?: number;
  search?: string;
}

/** The filter of the API. What the address has misspelt is left out. */
export function filterOf({ status, kind, model, from, to, q }: TaskSearch): TaskFilter {
  const filter: TaskFilter = {};
  if (status && (STATUSES as readonly string[]).includes(status))
    filter.status = status.toUpperCase() as TaskRow['status'];
  if (kind === 'image' || kind === 'video') filter.kind = kind.toUpperCase() as TaskRow['kind'];
  if (model) filter.model = model;
  if (Number(from) > 0) filter.createdAfter = Number(from);
  if (Number(to) > 0) filter.createdBefore = Number(to);
  if (q?.trim()) filter.search = q.trim();
  return filter;
}

/** Whether a row that the feed brought belongs into a list with this filter. */
export function matches(
  row: TaskRow,
  { status, kind, model, createdAfter, createdBefore, search }: TaskFilter,
): boolean {
  return (
    (!status || row.status === status) &&
    (!kind || row.kind === kind) &&
    (!model || row.model === model) &&
    (!createdAfter || row.createdAt > createdAfter) &&
    (!createdBefore || row.createdAt < createdBefore) &&
    (!search || wordsOf(search).every((word) => row.prompt.toLowerCase().includes(word)))
  );
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/);

export const isFiltered = (search: TaskSearch): boolean => Object.values(filterOf(search)).length > 0;
