import type { TadaDocumentNode } from 'gql.tada';
import { useEffect, useState } from 'react';
import { follow } from './follow.ts';

export interface Live<Result> {
  data: Result | null;
  /**
   * Unix milliseconds at which the subscription ended; null while the data is kept up to date, or before the first end.
   */
  staleSince: number | null;
}

/** The newest event of a subscription. The subscription starts again after an interruption. */
export function useSubscription<Result>(document: TadaDocumentNode<Result, Record<string, never>>): Live<Result> {
  const [live, setLive] = useState<Live<Result>>({ data: null, staleSince: null });
  useEffect(
    () =>
      follow(
        document,
        {},
        {
          next: (data) => setLive({ data, staleSince: null }),
          ended: () => setLive((before) => ({ ...before, staleSince: before.staleSince ?? Date.now() })),
        },
      ),
    [document],
  );
  return live;
}
