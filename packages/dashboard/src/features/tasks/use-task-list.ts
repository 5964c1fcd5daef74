import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError, type CallError } from '../../api/errors.ts';
import { filterOf, matches, type TaskSearch } from '../../live/task-filter.ts';
import { placeOf, rememberPlace } from '../../live/list-places.ts';
import { onFeed } from '../../live/task-feed.ts';
import { putTasks } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { useWhenLive } from '../../live/use-when-live.ts';
import { TaskPage } from './tasks.documents.ts';

export interface TaskList {
  ids: readonly string[];
  /** New tasks that match and that the list does not show yet, newest first. */
  waiting: readonly string[];
  error: CallError | null;
  isLoading: boolean;
  hasMore: boolean;
  more(): void;
  reload(): void;
  /** The task whose row had the focus when the user left the list; null: none. */
  focusId: string | null;
  onFocus(taskId: string): void;
  /** Shows the new tasks at the top. */
  showWaiting(): void;
}

/** Reads the newest tasks of a filter. Returns none if they cannot be read: the next event reads them again. */
async function newestOf(filter: ReturnType<typeof filterOf>): Promise<readonly string[]> {
  const found = await run(TaskPage, { filter, after: null }).catch(() => null);
  const rows = found?.tasks.edges.map(({ node }) => toRow(node)) ?? [];
  putTasks(rows);
  return rows.map(({ taskId }) => taskId);
}

/**
 * Keeps only new tasks. Ids rise with time, and the feed begins with all unfinished tasks, which the list may contain
 * further down.
 */
function newerThan(known: readonly string[], ids: readonly string[]): readonly string[] {
  const [newest] = known;
  return newest ? ids.filter((id) => id > newest) : ids;
}

const joined = (ids: readonly string[]) => (before: readonly string[]) => [...new Set([...ids, ...before])];

const EMPTY = { ids: [] as readonly string[], cursor: null as string | null, hasMore: true };

/**
 * The ids of a filtered list, page by page. Live events do not move the rows: new tasks are shown only when the user
 * asks for them.
 */
export function useTaskList(search: TaskSearch): TaskList {
  const key = JSON.stringify(filterOf(search));
  const [start] = useState(() => placeOf<typeof EMPTY>('tasks', key));
  const [pages, setPages] = useState(start?.pages ?? EMPTY);
  const [waiting, setWaiting] = useState<readonly string[]>([]);
  const [error, setError] = useState<CallError | null>(null);
  const [isLoading, setLoading] = useState(start === null);
  const busy = useRef(false);
  /** The filter whose tasks are shown; null: no page was read yet. */
  const shown = useRef(start ? key : null);
  const round = useRef(0);
  // After Back the list is shown as it was. The live feed keeps its rows up to date. Tasks that were made meanwhile are
  // shown only when the user asks for them.
  const restored = useRef(start ? key : null);

  const read = useCallback(
    async (after: string | null) => {
      if (busy.current && after !== null) return;
      busy.current = true;
      const mine = after === null ? ++round.current : round.current;
      setLoading(true);
      try {
        const { tasks } = await run(TaskPage, { filter: JSON.parse(key) as ReturnType<typeof filterOf>, after });
        if (mine !== round.current) return;
        putTasks(tasks.edges.map(({ node }) => toRow(node)));
        const ids = tasks.edges.map(({ node }) => node.taskId);
        const { endCursor, hasNextPage } = tasks.pageInfo;
        setPages((before) => ({
          ids: after === null ? ids : [...new Set([...before.ids, ...ids])],
          cursor: endCursor,
          hasMore: hasNextPage,
        }));
        if (after === null) setWaiting([]);
        shown.current = key;
        setError(null);
      } catch (fault) {
        if (mine !== round.current) return;
        if (shown.current !== key) setPages(EMPTY); // the tasks of another filter must not stay
        setError(asCallError(fault));
      } finally {
        if (mine === round.current) {
          busy.current = false;
          setLoading(false);
        }
      }
    },
    [key],
  );

  useWhenLive(() => void read(null), error !== null);
  useEffect(() => {
    const isRestored = restored.current === key;
    restored.current = null;
    if (isRestored)
      void newestOf(JSON.parse(key) as ReturnType<typeof filterOf>).then((ids) => setWaiting(joined(ids)));
    else void read(null);
  }, [read, key]);
  useEffect(() => {
    if (pages.ids.length > 0) rememberPlace('tasks', { filter: key, pages });
  }, [pages, key]);
  useEffect(
    () =>
      onFeed((_, added) => {
        const filter = JSON.parse(key) as ReturnType<typeof filterOf>;
        const news = added.filter((row) => matches(row, filter)).toSorted((a, b) => b.createdAt - a.createdAt);
        if (news.length === 0) return;
        const ids = news.map(({ taskId }) => taskId);
        // Rows have neither metadata nor the id of their batch, so the service is asked which of the new tasks match.
        if (filter.metadata || filter.batchId)
          void newestOf(filter).then((found) => setWaiting(joined(ids.filter((id) => found.includes(id)))));
        else setWaiting(joined(ids));
      }),
    [key],
  );

  return {
    ids: pages.ids,
    focusId: start?.focusId ?? null,
    onFocus: (focusId) => rememberPlace('tasks', { filter: key, pages, focusId }),
    waiting: useMemo(() => newerThan(pages.ids, waiting), [waiting, pages]),
    error,
    isLoading,
    hasMore: pages.hasMore,
    more: () => {
      if (pages.hasMore && pages.cursor && !busy.current) void read(pages.cursor);
    },
    reload: () => void read(null),
    showWaiting: () => {
      setPages((before) => ({ ...before, ids: [...newerThan(before.ids, waiting), ...before.ids] }));
      setWaiting([]);
    },
  };
}
