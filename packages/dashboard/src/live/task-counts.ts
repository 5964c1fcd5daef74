import { useEffect, useSyncExternalStore } from 'react';
import { run } from '../api/client.ts';
import { createStore } from '../store.ts';
import { type Counts, TaskCounts } from './task-counts.documents.ts';
import { onStateChange } from './task-store.ts';
import { useQuery } from './use-query.ts';
import { filterOf, type TaskSearch } from './task-filter.ts';
import { whileSeen } from './while-seen.ts';

/** The pause between reads of the counts while tasks change. */
const NEWS_MS = 2_000;
/** The pause between a change after a quiet time and the read of the counts. */
const GATHER_MS = 150;
/** The pause between reads of the counts of a filter. */
const COUNT_MS = 5_000;

/** The counts of all tasks of the key, from the service. */
const counts = createStore<Counts | null>(null);
export const { get: allCounts, subscribe: onCounts } = counts;
let readAt = -Infinity;
let timer: ReturnType<typeof setTimeout> | null = null;

async function count(): Promise<void> {
  timer = null;
  readAt = performance.now();
  const answer = await run(TaskCounts, { filter: {} }).catch(() => null);
  if (answer) counts.set(answer.taskCounts);
}

/** Reads the counts again, soon. */
export function countAgain(): void {
  timer ??= setTimeout(() => void count(), Math.max(GATHER_MS, readAt + NEWS_MS - performance.now()));
}

/** Reads the counts again whenever the feed brings another status of a task, until the returned function is called. */
export function followCounts(): () => void {
  countAgain();
  const stop = onStateChange(countAgain);
  return () => {
    stop();
    if (timer) clearTimeout(timer);
    timer = null;
    readAt = -Infinity;
    counts.set(null);
  };
}

/**
 * The counts of the tasks that match a filter, by status. The status in the filter is left out. Without a filter these
 * are the counts of the menu.
 */
export function useTaskCounts(search: TaskSearch): { counts: Counts | null; reload(): void } {
  const { status: _, ...rest } = search;
  const filter = filterOf(rest);
  const isAll = Object.keys(filter).length === 0;
  const all = useSyncExternalStore(onCounts, allCounts);
  const { data, reload } = useQuery(TaskCounts, isAll ? null : { filter });
  useEffect(() => {
    const again = isAll ? countAgain : () => void reload();
    return whileSeen(again, COUNT_MS);
  }, [isAll, reload]);
  return { counts: isAll ? all : (data?.taskCounts ?? null), reload: isAll ? countAgain : () => void reload() };
}
