import type { TadaDocumentNode } from 'gql.tada';
import { useEffect, useState } from 'react';
import { subscribe } from './socket.ts';

/** Pause before a subscription that ended is started again. */
const RETRY_MS = 2_000;

export interface Live<Result> {
  data: Result | null;
  /** What is shown is no longer kept up to date; unix milliseconds of the last event. */
  staleSince: number | null;
}

/** What a subscription sent last. It goes on by itself after an interruption. */
export function useSubscription<Result>(document: TadaDocumentNode<Result, Record<string, never>>): Live<Result> {
  const [live, setLive] = useState<Live<Result>>({ data: null, staleSince: null });
  useEffect(() => {
    let stop: () => void = () => undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      stop = subscribe(
        document,
        {},
        {
          open: () => undefined,
          next: (data) => setLive({ data, staleSince: null }),
          ended: () => {
            setLive((before) => ({ ...before, staleSince: before.staleSince ?? Date.now() }));
            timer = setTimeout(start, RETRY_MS);
          },
        },
      );
    };
    start();
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [document]);
  return live;
}
