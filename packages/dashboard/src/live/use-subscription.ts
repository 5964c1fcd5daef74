import type { TadaDocumentNode } from 'gql.tada';
import { useEffect, useState } from 'react';
import { follow } from './follow.ts';

export interface Live<Result> {
  data: Result | null;
  /** What is shown is no longer kept up to date; unix milliseconds of the last event. */
  staleSince: number | null;
}

/** What a subscription sent last. It goes on by itself after an interruption. */
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
