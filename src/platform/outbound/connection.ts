import type { Socket } from 'node:net';
import { Client } from 'undici';

/** How long a connection may wait for the next request: shorter than servers do, so that they do not close it first. */
export const IDLE_MS = 1000;

/** HTTP/1.1 over one socket that was opened and checked; it never opens another. One request at a time. */
export class Connection {
  /** Where it leads: the origin, and the address that was checked. */
  readonly place: string;
  readonly openedAt = performance.now();
  readonly client: Client;
  isOpen = true;
  /** It has served a request before. */
  wasKept = false;
  /** Told when the server, or its idle time, ends it. */
  whenClosed: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    { origin }: URL,
  ) {
    this.place = placeOf(origin, socket.remoteAddress ?? '');
    let unused: Socket | null = socket;
    this.client = new Client(origin, {
      connect: (_options, done) => {
        const given = unused;
        unused = null;
        // Not at once: the client would miss an answer given while it is still asking.
        queueMicrotask(() => (given ? done(null, given) : done(new Error('the connection is used up'), null)));
      },
      headersTimeout: 0, // the signal is the only clock
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
    });
    this.client.once('disconnect', () => {
      this.isOpen = false;
      this.whenClosed();
    });
  }

  close(): void {
    this.isOpen = false;
    void this.client.destroy();
    this.socket.destroy();
  }
}

export const placeOf = (origin: string, address: string): string => `${origin} ${address}`;
