import { stringifyDocument } from '@urql/core';
import type { Client } from 'graphql-ws';
import type { TadaDocumentNode } from 'gql.tada';
import { part } from '../api/late-part.ts';

/** Loaded later, because the page is drawn before its socket opens. */
const library = part(() => import('graphql-ws'));

/** Why a subscription ended: the code of the close frame; 0: another error; null: an ordinary end. */
export interface Ended {
  closeCode: number | null;
}

let client: Promise<Client> | null = null;
let isConnected = false;

/** The only socket of this tab. The session cookie authenticates it. */
async function connect(): Promise<Client> {
  const { createClient } = await library();
  return createClient({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
    // The callers subscribe again themselves, because the task feed must tell the service since when it missed events.
    retryAttempts: 0,
    connectionAckWaitTimeout: 10_000,
    keepAlive: 15_000,
    on: { connected: () => (isConnected = true), closed: () => (isConnected = false) },
  });
}

export function subscribe<Result, Given extends Record<string, unknown>>(
  document: TadaDocumentNode<Result, Given>,
  variables: Given,
  on: { open(): void; next(result: Result): void; ended(why: Ended): void },
): () => void {
  const ways: (() => void)[] = [];
  let isOver = false;
  const stop = () => {
    isOver = true;
    for (const leave of ways) leave();
  };
  const end = (closeCode: number | null) => {
    if (isOver) return;
    stop();
    on.ended({ closeCode });
  };
  const start = async () => {
    client ??= connect();
    const ws = await client;
    if (isOver) return;
    if (isConnected) on.open(); // another subscription has opened the socket
    ways.push(
      ws.on('connected', () => on.open()),
      ws.subscribe<Result, unknown>(
        { query: stringifyDocument(document), variables },
        {
          next: ({ data }) => data && on.next(data),
          error: (fault) => end(closeCodeOf(fault)),
          complete: () => end(null),
        },
      ),
    );
  };
  start().catch((fault: unknown) => {
    client = null;
    end(closeCodeOf(fault));
  });
  return stop;
}

const closeCodeOf = (fault: unknown): number => {
  const code = (fault as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : 0;
};
