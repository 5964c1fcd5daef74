import { createStore } from '../store.ts';

/**
 * A task as the lists show it. Lists only hold ids; the rows are stored here, so that a change renders only one row.
 */
export interface TaskRow {
  taskId: string;
  /** Rises with every change of the task. */
  sequence: number;
  status: 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  progress: number;
  kind: 'IMAGE' | 'VIDEO';
  model: string;
  createdAt: number;
  startedAt: number;
  completedAt: number;
  error: { code: string; message: string; retryable: boolean; param: string | null } | null;
  /** Only a final task has a cost. */
  cost: { amountMicros: number; currency: string } | null;
  outputs: Output[];
  /** Unix seconds at which the files that are not kept are deleted. 0: no file will be deleted. */
  filesUntil: number;
  /** Whether the task or one of its outputs is kept. */
  kept: boolean;
  /** The name of the collection that the task is in. */
  collection: string | null;
  /** The first characters of the prompt. */
  prompt: string;
}

export interface Output {
  id: string;
  index: number;
  type: 'IMAGE' | 'VIDEO';
  width: number;
  height: number;
  duration: number | null;
  contentType: string;
  sizeBytes: number;
  sha256: string;
  kept: boolean;
  /** The name of the collection in which the output is kept. */
  collection: string | null;
  url: string | null;
  urlExpiresAt: number | null;
  /** A small still; null if the file is deleted, or if it is a film without a still. */
  preview: { url: string; urlExpiresAt: number } | null;
}

/** Whether a new picture or film can be made from an output: it must be a picture whose bytes are not deleted. */
export const isUsablePicture = ({ type, url }: Output): boolean => type === 'IMAGE' && url !== null;

/** Whether an output is kept, and in which collection; `collection` null: in none. */
export type Star = Pick<Output, 'kept' | 'collection'>;

/**
 * Above this number, final rows are dropped in the order in which they were stored. A row that something shows stays, and
 * so does an unfinished one.
 */
const MAX_ROWS = 20_000;

/** Rows by task id; null: the service said that there is no such task (any more). */
const rows = new Map<string, TaskRow | null>();
/** Stars that the service has not confirmed yet, by task and index of the output. */
const stars = new Map<string, Map<number, Star>>();
/**
 * Rows with the unconfirmed stars applied. A read that began before the press on a star must not remove the star.
 */
const starred = new Map<string, TaskRow>();
const listeners = new Map<string, Set<() => void>>();
/** Rises whenever everything that is shown has to be read again. */
const rounds = createStore(0);
export const { get: roundNow, subscribe: onRound } = rounds;
/** The round in which the newest state of a task came, by task id. */
const readIn = new Map<string, number>();
/** Rises whenever a task is added or deleted, or changes its status: then the counts are different. */
const moves = createStore(0);
export const { get: stateChanges, subscribe: onStateChange } = moves;

/** What the page knows of a task. undefined: nothing yet; null: there is no such task (any more). */
export type TaskNow = TaskRow | null | undefined;

export const taskRow = (id: string): TaskNow => starred.get(id) ?? rows.get(id);

export const isFinal = (row: Pick<TaskRow, 'status'>): boolean => row.status === 'SUCCEEDED' || row.status === 'FAILED';

/** A cancelled task has the status FAILED, but did not fail: nothing has to be mended. */
export const isCancelled = (row: Pick<TaskRow, 'error'>): boolean => row.error?.code === 'TASK_CANCELLED';

export function onTask(id: string, listener: () => void): () => void {
  const set = listeners.get(id) ?? new Set();
  listeners.set(id, set.add(listener));
  return () => {
    set.delete(listener);
    if (set.size === 0) listeners.delete(id);
  };
}

/**
 * Stores what is new, and returns the rows that were not known before. Reads and the feed may arrive in any order, so
 * the newest state counts.
 */
export function putTasks(news: readonly TaskRow[]): TaskRow[] {
  const added: TaskRow[] = [];
  const changed: string[] = [];
  let moved = 0;
  for (const row of news) {
    const known = rows.get(row.taskId);
    // A repeated creation answers with the first, queued state, whatever the task's state is now.
    if (known && (row.sequence < known.sequence || (isFinal(known) && !isFinal(row)))) continue;
    if (!known) added.push(row);
    if (known?.status !== row.status) moved++;
    rows.set(row.taskId, row);
    readIn.set(row.taskId, rounds.get());
    changed.push(row.taskId);
  }
  for (const id of changed) tell(id);
  if (moved > 0) moves.set(moves.get() + moved);
  forget();
  return added;
}

/** Stores the newest tasks. All others that are shown are read again. */
export function beginRound(newest: readonly TaskRow[]): void {
  putTasks(newest);
  const next = rounds.get() + 1;
  for (const { taskId } of newest) readIn.set(taskId, next);
  rounds.set(next);
}

export const noteRead = (id: string, round = rounds.get()): unknown => readIn.set(id, round);

/** Whether the task has to be read: it is not known, or its state came before the present round. */
export const isOld = (id: string): boolean =>
  taskRow(id) === undefined || (taskRow(id) !== null && (readIn.get(id) ?? 0) < rounds.get());

/** Stores that there is no such task (any more). */
export function dropTask(id: string): void {
  if (rows.get(id)) moves.set(moves.get() + 1);
  rows.set(id, null);
  stars.delete(id);
  tell(id);
}

/** Shows a star, whatever the service sends, until `liftStars`. */
export function layStar(id: string, index: number, star: Star): void {
  stars.set(id, new Map(stars.get(id)).set(index, star));
  tell(id);
}

/** Stores a star that the service has accepted. */
export function confirmStar(id: string, index: number, star: Star): void {
  const row = rows.get(id);
  if (row) putTasks([withStars(row, new Map([[index, star]]))]);
}

/** Shows the task with the stars of the service again. */
export function liftStars(id: string): void {
  stars.delete(id);
  tell(id);
}

function withStars(row: TaskRow, laid: ReadonlyMap<number, Star>): TaskRow {
  const outputs = row.outputs.map((each) => ({ ...each, ...laid.get(each.index) }));
  return { ...row, outputs, kept: outputs.some((each) => each.kept) };
}

function tell(id: string): void {
  const [row, laid] = [rows.get(id), stars.get(id)];
  if (row && laid) starred.set(id, withStars(row, laid));
  else starred.delete(id);
  for (const listener of listeners.get(id) ?? []) listener();
}

/** Called when another API key signs in or the user signs out, because nothing of one key may be shown to another. */
export function clearTasks(): void {
  rows.clear();
  readIn.clear();
  stars.clear();
  starred.clear();
}

function forget(): void {
  for (const [id, row] of rows) {
    if (rows.size <= MAX_ROWS) return;
    if ((!row || isFinal(row)) && !listeners.has(id)) {
      rows.delete(id);
      readIn.delete(id);
    }
  }
}
