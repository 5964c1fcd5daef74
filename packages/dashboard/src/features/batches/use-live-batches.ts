import { useEffect, useState } from 'react';
import { subscribe } from '../../live/socket.ts';
import { isEnded } from './batch-words.ts';
import { type Batch, BatchUpdated } from './batches.documents.ts';

/** A socket carries 50 operations, and other parts of the page need some. */
const MAX_FOLLOWED = 20;
/** Pause before a subscription that ended early is started again. */
const RETRY_MS = 2_000;

/** The same batches, each as it is now. Those that have ended are not followed. */
export function useLiveBatches(batches: readonly Batch[]): readonly Batch[] {
  const [news, setNews] = useState<ReadonlyMap<string, Batch>>(new Map());
  const now = batches.map((batch) => news.get(batch.id) ?? batch);
  const followed = now.filter((batch) => !isEnded(batch)).slice(0, MAX_FOLLOWED);
  const key = followed.map(({ id }) => id).join(' ');
  useEffect(() => {
    const stops = key.split(' ').filter(Boolean).map((id) => follow(id, (batch) => setNews((before) => new Map(before).set(id, batch)))); // prettier-ignore
    return () => {
      for (const stop of stops) stop();
    };
  }, [key]);
  return now;
}

function follow(id: string, tell: (batch: Batch) => void): () => void {
  let stop: () => void = () => undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const start = () => {
    stop = subscribe(
      BatchUpdated,
      { id },
      {
        open: () => undefined,
        next: ({ batchUpdated }) => {
          isOver = isEnded(batchUpdated);
          tell(batchUpdated);
        },
        ended: () => {
          if (!isOver) retry = setTimeout(start, RETRY_MS);
        },
      },
    );
  };
  start();
  return () => {
    clearTimeout(retry);
    stop();
  };
}
