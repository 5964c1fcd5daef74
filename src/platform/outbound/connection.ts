import type { Socket } from 'node:net';
import type { Client } from 'undici';
import { clientOnSocket } from './client.ts';

/** How long an idle connection is kept. Shorter than servers keep theirs, so that the server does not close it first. */
export const IDLE_MS = 1000;

/** HTTP/1.1 over one open and checked socket. It serves one request at a time. */
export class Connection {
  /** Origin and checked address: requests with the same key may reuse the connection. */
  readonly key: string;
  /** Of the peer; empty if the connection has closed already. */
  readonly address: string;
  readonly openedAt = performance.now();
  readonly client: Client;
  isOpen = true;
  /** It has served an earlier request. */
  isReused = false;
  /** Called when the server or the idle timeout closes it. */
  onClose: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    { origin }: URL,
  ) {
    this.address = socket.remoteAddress ?? '';
    this.key = connectionKey(origin, this.address);
    this.client = clientOnSocket(origin, socket, { keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS });
    this.client.once('disconnect', () => {
      this.isOpen = false;
      this.onClose();
    });
  }

  close(): void {
    this.isOpen = false;
    void this.client.destroy();
    this.socket.destroy();
  }
}

export const connectionKey = (origin: string, address: string): string => `${origin} ${address}`;
