import { useEffect, useEffectEvent, useState } from 'react';
import { follow, gathered } from '../../live/follow.ts';
import { isEnded, newerOf } from './batch-words.ts';
import { type Batch, BatchUpdated } from './batches.documents.ts';

/**
 * At most this many batches are followed. A socket carries 50 operations, and other parts of the page need some of
 * them.
 */
const MAX_FOLLOWED = 20;

/**
 * The given batches in their present state. Follows at most `MAX_FOLLOWED` batches that have not ended.
 * @param reload reads the batches again: while there is no socket, and when a batch may have been deleted
 */
export function useLiveBatches(batches: readonly Batch[], reload: () => void): readonly Batch[] {
  const [news, setNews] = useState<ReadonlyMap<string, Batch>>(new Map());
  const now = batches.map((batch) => newerOf(batch, news.get(batch.id) ?? batch));
  const followed = now.filter((batch) => !isEnded(batch)).slice(0, MAX_FOLLOWED);
  const key = followed.map(({ id }) => id).join(' ');
  const tell = useEffectEvent((update: Batch) => {
    setNews((before) => new Map(before).set(update.id, newerOf(update, before.get(update.id) ?? update)));
  });
  const again = useEffectEvent(() => !document.hidden && reload());
  useEffect(() => {
    const ids = key.split(' ').filter(Boolean);
    const [gather, forget] = gathered(() => again());
    const stops = ids.map((id) =>
      follow(BatchUpdated, { id }, { next: ({ batchUpdated }) => tell(batchUpdated), again: gather }),
    );
    return () => {
      forget();
      for (const stop of stops) stop();
    };
  }, [key]);
  return now;
}
