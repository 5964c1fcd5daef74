import { useCallback, useEffect, useRef, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError, type CallError } from '../../api/errors.ts';
import { noteRead, onRound, putTasks } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { useWhenLive } from '../../live/use-when-live.ts';
import { BatchItems } from './batches.documents.ts';

export interface BatchItem {
  taskId: string;
  /** The position in the batch, from 0. */
  index: number;
  customId: string | null;
  /** The last task that ran the item again; null: none. */
  againId: string | null;
}

/** How many pages of 50 tasks a batch shows at most. */
const MAX_PAGES = 20;

interface Items {
  /** The items in the order of the batch; null: not read yet. */
  items: readonly BatchItem[] | null;
  error: CallError | null;
  reload(): void;
}

/** The newest 1,000 tasks of a batch. The live feed keeps their states up to date. */
export function useBatchItems(batchId: string): Items {
  const [items, setItems] = useState<readonly BatchItem[] | null>(null);
  const [error, setError] = useState<CallError | null>(null);
  const round = useRef(0);
  const reload = useCallback(async () => {
    const mine = ++round.current;
    try {
      const read = await readItems(batchId);
      if (mine !== round.current) return;
      setItems(read);
      setError(null);
    } catch (fault) {
      if (mine === round.current) setError(asCallError(fault));
    }
  }, [batchId]);
  useEffect(() => void reload(), [reload]);
  useEffect(
    () =>
      onRound(() => {
        // `reload` reads at most 20 pages. Without `noteRead` each of up to 1,000 tiles would also read its own task.
        for (const { taskId } of items ?? []) noteRead(taskId);
        void reload();
      }),
    [items, reload],
  );
  useWhenLive(() => void reload(), error !== null);
  return { items, error, reload: () => void reload() };
}

async function readItems(batchId: string): Promise<BatchItem[]> {
  const items: BatchItem[] = [];
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { edges, pageInfo } = await readPage(batchId, after);
    putTasks(edges.map(({ node }) => toRow(node)));
    for (const { node } of edges) {
      const again = node.children.edges.find(({ node: child }) => child.relation === 'RETRY');
      const { index = 0, customId = null } = node.batch ?? {};
      items.push({ taskId: node.taskId, index, customId, againId: again?.node.taskId ?? null });
    }
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  return items.toSorted((a, b) => a.index - b.index);
}

const readPage = async (batchId: string, after: string | null) =>
  (await run(BatchItems, { filter: { batchId }, after })).tasks;
