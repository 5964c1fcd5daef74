import { CloseCode, type Server } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import { currentRequestId } from '../logging/request-context.ts';
import { parseStrictJson } from '../http/json/strict-json.ts';
import type { SocketState } from './live-operations.ts';

/** Messages of a socket in hand at once. A live operation counts for as long as it runs, so this is well above their limit. */
const MAX_IN_HAND = 100;
/** What a client has to read before we go on reading from it. */
const MAX_UNSENT_BYTES = 1024 * 1024;
const RESUME_LOOK_MS = 100;

/** One open WebSocket: carries messages between `ws` and graphql-ws and sees to it that neither side floods the other. */
export class GraphqlSocket {
  /** Whether the client has shown a sign of life since the last ping. */
  private alive = true;
  private inHand = 0;
  private readonly closed: (code?: number, reason?: string) => Promise<void>;

  constructor(
    private readonly socket: WebSocket,
    server: Server<SocketState>,
    private readonly state: SocketState,
    onClosed: () => void,
  ) {
    this.closed = server.opened(
      {
        protocol: socket.protocol,
        send: (text) => this.send(text),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => socket.on('message', (data, isBinary) => void this.take(data, isBinary, handle)),
      },
      state,
    );
    socket.on('pong', () => (this.alive = true));
    socket.on('error', () => socket.terminate()); // malformed or oversized frames: `ws` has sent the close code already
    socket.once('close', (code, reason) => {
      onClosed();
      void this.closed(code, reason.toString()).catch(() => undefined);
    });
  }

  /** Ends the socket when the last ping is unanswered, otherwise sends the next. */
  ping(): void {
    if (!this.alive) this.socket.terminate();
    else if (this.socket.readyState === this.socket.OPEN) {
      this.alive = false;
      this.socket.ping();
    }
  }

  /** Says goodbye; a client that does not answer within `graceMs` is cut off. */
  close(code: number, reason: string, graceMs = 1_000): void {
    this.socket.close(code, reason);
    setTimeout(() => this.socket.terminate(), graceMs).unref();
  }

  /** Resolves once the client's connection has taken the bytes, so whoever waits for it goes at the reader's pace. */
  private send(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.readyState !== this.socket.OPEN) resolve();
      else this.socket.send(text, () => resolve()); // a failed write is followed by `close`, which ends what waits
    });
  }

  private async take(data: RawData, isBinary: boolean, handle: (text: string) => Promise<void>): Promise<void> {
    this.alive = true;
    const bytes = data as Buffer; // `ws` gives Buffers unless told otherwise
    if (isBinary || !mayBeSaid(bytes)) {
      this.socket.close(CloseCode.BadRequest, 'Invalid message received');
      return;
    }
    this.inHand += 1;
    this.slowDown();
    try {
      await currentRequestId.run(this.state.requestId, () => handle(bytes.toString()));
    } catch {
      this.socket.close(CloseCode.InternalServerError, 'Internal server error');
    } finally {
      this.inHand -= 1;
    }
  }

  /** Stops reading while there is too much to answer; TCP then tells the client. */
  private slowDown(): void {
    if (this.socket.isPaused || !this.isBusy()) return;
    this.socket.pause();
    const look = setInterval(() => {
      if (this.isBusy() && this.socket.readyState === this.socket.OPEN) return;
      clearInterval(look);
      this.socket.resume();
    }, RESUME_LOOK_MS).unref();
  }

  private isBusy(): boolean {
    return this.inHand > MAX_IN_HAND || this.socket.bufferedAmount > MAX_UNSENT_BYTES;
  }
}

/** What only a server says; graphql-ws would take it for a failure of its own. */
const WORDS_OF_SERVERS: readonly unknown[] = ['connection_ack', 'next', 'error'];

function mayBeSaid(bytes: Buffer): boolean {
  try {
    const message = parseStrictJson(bytes);
    return !WORDS_OF_SERVERS.includes((message as { type?: unknown } | null)?.type);
  } catch {
    return false;
  }
}
