import { useCallback, useEffect, useRef, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError, type CallError } from '../../api/errors.ts';
import { filterOf, matches, type TaskSearch } from '../../live/task-filter.ts';
import { onNewTasks } from '../../live/task-feed.ts';
import { putTasks } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { TaskPage } from './tasks.documents.ts';

export interface TaskList {
  ids: readonly string[];
  /** New tasks that match and are not shown yet, newest first. */
  waiting: readonly string[];
  error: CallError | null;
  isLoading: boolean;
  hasMore: boolean;
  more(): void;
  reload(): void;
  /** Shows the new tasks at the top. */
  showWaiting(): void;
}

const EMPTY = { ids: [] as readonly string[], cursor: null as string | null, hasMore: true };

/** The ids of a filtered list, page by page. Rows never move: new tasks wait until they are asked for. */
export function useTaskList(search: TaskSearch): TaskList {
  const [pages, setPages] = useState(EMPTY);
  const [waiting, setWaiting] = useState<readonly string[]>([]);
  const [error, setError] = useState<CallError | null>(null);
  const [isLoading, setLoading] = useState(true);
  const busy = useRef(false);
  const round = useRef(0);
  const key = JSON.stringify(filterOf(search));

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
          ids: after === null ? ids : [...before.ids, ...ids.filter((id) => !before.ids.includes(id))],
          cursor: endCursor,
          hasMore: hasNextPage,
        }));
        if (after === null) setWaiting([]);
        setError(null);
      } catch (fault) {
        if (mine === round.current) setError(asCallError(fault));
      } finally {
        if (mine === round.current) {
          busy.current = false;
          setLoading(false);
        }
      }
    },
    [key],
  );

  useEffect(() => void read(null), [read]);
  useEffect(
    () =>
      onNewTasks((added) => {
        const filter = JSON.parse(key) as ReturnType<typeof filterOf>;
        const news = added.filter((row) => matches(row, filter)).toSorted((a, b) => b.createdAt - a.createdAt);
        if (news.length > 0) setWaiting((before) => [...news.map(({ taskId }) => taskId), ...before]);
      }),
    [key],
  );

  return {
    ids: pages.ids,
    waiting: waiting.filter((id) => !pages.ids.includes(id)),
    error,
    isLoading,
    hasMore: pages.hasMore,
    more: () => {
      if (pages.hasMore && pages.cursor && !busy.current) void read(pages.cursor);
    },
    reload: () => void read(null),
    showWaiting: () => {
      setPages((before) => ({ ...before, ids: [...waiting.filter((id) => !before.ids.includes(id)), ...before.ids] }));
      setWaiting([]);
    },
  };
}
