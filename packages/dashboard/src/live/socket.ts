import { stringifyDocument } from '@urql/core';
import { type Client, createClient } from 'graphql-ws';
import type { TadaDocumentNode } from 'gql.tada';

/** Why a subscription ended: the code of the close frame, null for an ordinary end. */
export interface Ended {
  closeCode: number | null;
}

let client: Client | null = null;

/** The one socket of this tab. The session cookie signs it in. */
function socket(): Client {
  client ??= createClient({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
    // The feed reconnects by itself, because it has to say since when it missed events.
    retryAttempts: 0,
    connectionAckWaitTimeout: 10_000,
    keepAlive: 15_000,
  });
  return client;
}

export function subscribe<Result, Given extends Record<string, unknown>>(
  document: TadaDocumentNode<Result, Given>,
  variables: Given,
  on: { open(): void; next(result: Result): void; ended(why: Ended): void },
): () => void {
  const ws = socket();
  const offConnected = ws.on('connected', () => on.open());
  let isOver = false;
  const end = (why: Ended) => {
    if (isOver) return;
    isOver = true;
    offConnected();
    on.ended(why);
  };
  const stop = ws.subscribe<Result, unknown>(
    { query: stringifyDocument(document), variables },
    {
      next: ({ data }) => data && on.next(data),
      error: (fault) => end({ closeCode: closeCodeOf(fault) }),
      complete: () => end({ closeCode: null }),
    },
  );
  return () => {
    isOver = true;
    offConnected();
    stop();
  };
}

const closeCodeOf = (fault: unknown): number => {
  const code = (fault as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : 0;
};
