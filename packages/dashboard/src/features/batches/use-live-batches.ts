import { useEffect, useEffectEvent, useState } from 'react';
import { follow, gathered } from '../../live/follow.ts';
import { isEnded } from './batch-words.ts';
import { type Batch, BatchUpdated } from './batches.documents.ts';

/** A socket carries 50 operations, and other parts of the page need some. */
const MAX_FOLLOWED = 20;

/**
 * The same batches, each as it is now. Those that have ended are not followed.
 * @param reload reads them again: while there is no socket, and when one of them may be gone
 */
export function useLiveBatches(batches: readonly Batch[], reload: () => void): readonly Batch[] {
  const [news, setNews] = useState<ReadonlyMap<string, { of: Batch; update: Batch }>>(new Map());
  const now = batches.map((batch) => newerOf(batch, news.get(batch.id)));
  const followed = now.filter((batch) => !isEnded(batch)).slice(0, MAX_FOLLOWED);
  const key = followed.map(({ id }) => id).join(' ');
  const tell = useEffectEvent((update: Batch) => {
    const read = batches.find(({ id }) => id === update.id);
    if (read) setNews((before) => new Map(before).set(read.id, { of: read, update }));
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

const endedIn = ({ counts: { succeeded, failed, cancelled } }: Batch): number => succeeded + failed + cancelled;

/** What was read later is newer, unless less has ended in it: then it was read before the update came. */
function newerOf(read: Batch, news: { of: Batch; update: Batch } | undefined): Batch {
  return news && (news.of === read || endedIn(news.update) > endedIn(read)) ? news.update : read;
}
