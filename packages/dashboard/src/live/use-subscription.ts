import type { TadaDocumentNode } from 'gql.tada';
import { useEffect, useState } from 'react';
import { follow } from './follow.ts';

export interface Live<Result> {
  data: Result | null;
  /** Set when the data is no longer kept up to date: unix milliseconds of the last event. */
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
