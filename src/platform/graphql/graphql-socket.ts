import { CloseCode, type Server } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import { currentRequest } from '../observe/logging/request-context.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import type { SocketState } from './socket-operations.ts';

/**
 * If a socket has more messages in flight than this, the server stops reading from it. Well above MAX_OPERATIONS,
 * because an operation counts as long as it runs.
 */
const MAX_IN_FLIGHT = 100;
/** If more bytes than this wait to be sent to a client, the server stops reading from it. */
const MAX_UNSENT_BYTES = 1024 * 1024;
const RESUME_POLL_MS = 100;

/** One open WebSocket. Passes messages between `ws` and graphql-ws, with backpressure in both directions. */
export class GraphqlSocket {
  /** Whether any message or pong has arrived since the last ping. */
  private alive = true;
  private inFlight = 0;
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
        onMessage: (handle) => socket.on('message', (data, isBinary) => void this.receive(data, isBinary, handle)),
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

  /**
   * Number of open subscriptions. A query, or an operation that is still starting, has no iterator and does not count.
   */
  get subscriptions(): number {
    return Object.values(this.state.subscriptions ?? {}).filter((iterator) => iterator !== null).length;
  }

  /** Terminates the socket if nothing has arrived since the last ping, otherwise sends the next ping. */
  ping(): void {
    if (!this.alive) this.socket.terminate();
    else if (this.socket.readyState === this.socket.OPEN) {
      this.alive = false;
      this.socket.ping();
    }
  }

  /** Starts the closing handshake. Terminates the socket if the client does not complete it within `graceMs`. */
  close(code: number, reason: string, graceMs = 1_000): void {
    this.socket.close(code, reason);
    setTimeout(() => this.socket.terminate(), graceMs).unref();
  }

  /**
   * Resolves when the bytes are written to the connection, or the socket is no longer open, so that a subscription
   * proceeds at the pace of its client.
   */
  private send(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.readyState !== this.socket.OPEN) resolve();
      else this.socket.send(text, () => resolve()); // a failed write is followed by `close`, which ends the operations
    });
  }

  private async receive(data: RawData, isBinary: boolean, handle: (text: string) => Promise<void>): Promise<void> {
    this.alive = true;
    const bytes = data as Buffer; // the default binaryType of `ws`
    if (isBinary || !isClientMessage(bytes)) {
      this.socket.close(CloseCode.BadRequest, 'Invalid message received');
      return;
    }
    this.inFlight += 1;
    this.throttle();
    try {
      await currentRequest.run({ id: this.state.requestId }, () => handle(bytes.toString()));
    } catch {
      this.socket.close(CloseCode.InternalServerError, 'Internal server error');
    } finally {
      this.inFlight -= 1;
    }
  }

  /**
   * Stops reading while too many messages are in flight or too many bytes unsent, so that TCP flow control slows the
   * client down.
   */
  private throttle(): void {
    if (this.socket.isPaused || !this.isBusy()) return;
    this.socket.pause();
    const poll = setInterval(() => {
      if (this.isBusy() && this.socket.readyState === this.socket.OPEN) return;
      clearInterval(poll);
      this.socket.resume();
    }, RESUME_POLL_MS).unref();
  }

  private isBusy(): boolean {
    return this.inFlight > MAX_IN_FLIGHT || this.socket.bufferedAmount > MAX_UNSENT_BYTES;
  }
}

/** Message types that only a server sends. If a client sent one, graphql-ws would report an internal error. */
const SERVER_MESSAGE_TYPES: readonly unknown[] = ['connection_ack', 'next', 'error'];

function isClientMessage(bytes: Buffer): boolean {
  try {
    const message = parseStrictJson(bytes);
    return !SERVER_MESSAGE_TYPES.includes((message as { type?: unknown } | null)?.type);
  } catch {
    return false;
  }
}
