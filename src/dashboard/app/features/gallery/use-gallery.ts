import { useCallback, useEffect, useRef, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError, type CallError } from '../../api/errors.ts';
import { filterOf, type TaskSearch } from '../../live/task-filter.ts';
import { type Output, putTasks } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { GalleryPage } from './gallery.documents.ts';

/** A picture or film of the gallery. */
export interface Shot {
  output: Output;
  taskId: string;
  model: string;
  prompt: string;
  createdAt: number;
  /** Outputs of its task. */
  of: number;
  /** Width to height. */
  ratio: number;
}

export interface Gallery {
  shots: readonly Shot[];
  error: CallError | null;
  isLoading: boolean;
  hasMore: boolean;
  more(): void;
  reload(): void;
}

const START = { shots: [] as readonly Shot[], cursor: null as string | null, hasMore: true };

/** The outputs of succeeded tasks, newest first, page by page. */
export function useGallery(search: TaskSearch): Gallery {
  const [pages, setPages] = useState(START);
  const [error, setError] = useState<CallError | null>(null);
  const [isLoading, setLoading] = useState(true);
  const busy = useRef(false);
  const key = JSON.stringify(filterOf({ ...search, status: 'succeeded' }));

  const read = useCallback(
    async (after: string | null) => {
      if (busy.current) return;
      busy.current = true;
      setLoading(true);
      try {
        const { tasks } = await run(GalleryPage, { filter: JSON.parse(key) as ReturnType<typeof filterOf>, after });
        const shots = tasks.edges.flatMap(({ node: task }) => {
          putTasks([toRow(task)]);
          const outputs = task.result?.outputs ?? [];
          const { taskId, model, createdAt, promptStart: prompt } = task;
          return outputs
            .filter(({ url }) => url !== null)
            .map((output) => ({
              output,
              taskId,
              model,
              prompt,
              createdAt,
              of: outputs.length,
              ratio: output.width / output.height,
            }));
        });
        const { endCursor, hasNextPage } = tasks.pageInfo;
        setPages((before) => ({
          shots: after === null ? shots : [...before.shots, ...shots],
          cursor: endCursor,
          hasMore: hasNextPage,
        }));
        setError(null);
      } catch (fault) {
        setError(asCallError(fault));
      } finally {
        busy.current = false;
        setLoading(false);
      }
    },
    [key],
  );
  useEffect(() => void read(null), [read]);

  return {
    shots: pages.shots,
    error,
    isLoading,
    hasMore: pages.hasMore,
    more: () => {
      if (pages.hasMore && pages.cursor && !busy.current) void read(pages.cursor);
    },
    reload: () => void read(null),
  };
}
