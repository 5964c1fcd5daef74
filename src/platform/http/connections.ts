import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { addressGroup } from './address-group.ts';
import type { HttpLimits } from './limits.ts';

/** How often to look whether too many connections are open. */
const BOUND_CHECK_MS = 1_000;
/** The share of the most connections above which they count as full. */
const FULL = 3 / 8;
/** How long the headers of a request may take while the connections are full. */
const HEADERS_WHILE_FULL_MS = 2_000;
/**
 * How often to look for idle connections while the process stops. An idle connection would keep the server open until
 * its client closes it.
 */
const CHECK_MS = 100;
/**
 * After this many checks (2 s) a connection in use has got an answer, which ended the connection, or still waits for an
 * answer. So all other connections are idle. Checks are counted, not time: after a stall of the process, timers run
 * before the requests that came meanwhile.
 */
const CHECKS = 20;
/** How long clients may read answers that were made before the process stopped. */
const READING_MS = 10_000;

/**
 * Bounds the open connections, and ends those of clients when the process stops. If a server closes a kept connection
 * while a request is on its way, the client sees a reset. So each answer ends its connection first, and only then are
 * idle connections closed.
 */
export class Connections {
  /** With the time when each was opened. */
  private readonly open = new Map<Socket, number>();
  /** How many are open, by the address or IPv6 network of the client. */
  private readonly ofAddresses = new Map<string, number>();
  private isLeaving = false;
  /** Whether more connections than `FULL` allows were open at the last check. */
  private isFull = false;
  private checks = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly fastify: FastifyInstance,
    /** The responses of a connection that were not completely sent when its last request came, and that of this one. */
    private readonly responsesOf: (socket: Socket) => ServerResponse[],
    private readonly limits: Pick<HttpLimits, 'connectionsAtOnce' | 'connectionsOfAddress' | 'headersTimeoutMs'>,
  ) {
    const { connectionsAtOnce } = limits;
    fastify.server.maxConnections = connectionsAtOnce;
    const timer = setInterval(() => this.keepBelow(connectionsAtOnce * FULL), BOUND_CHECK_MS).unref();
    fastify.server.once('close', () => clearInterval(timer));
    fastify.server.on('connection', (socket) => this.take(socket));
  }

  /** From now on each answer ends its connection, so the next connection of the client reaches another process. */
  leave(): void {
    this.isLeaving = true;
    this.endByAnswers();
  }

  /** Calls `leave`, and closes idle connections after `CHECKS` checks. */
  drain(): void {
    if (this.timer !== null) return;
    this.leave();
    const timer = setInterval(() => {
      this.checks += 1;
      if (this.checks >= CHECKS) this.closeIdle();
    }, CHECK_MS).unref();
    this.fastify.server.once('close', () => clearInterval(timer));
    this.timer = timer;
  }

  /**
   * Call this after `drain`. Resolves when the only open connections are those with a request in progress. An answer may
   * take another `READING_MS` to reach its client, because Node's server cuts it when it closes.
   */
  async left(): Promise<void> {
    while (this.timer !== null && this.open.size > 0 && this.checks < CHECKS) await sleep(CHECK_MS);
    const untilMs = performance.now() + READING_MS;
    while (performance.now() < untilMs && this.isAnyRead()) await sleep(CHECK_MS);
  }

  private isAnyRead(): boolean {
    return [...this.open.keys()].some((socket) =>
      this.responsesOf(socket).some(({ writableEnded, writableFinished }) => writableEnded && !writableFinished),
    );
  }

  /** Whether each request of the connection has arrived whole, and its answer was sent whole. */
  private isAnswered(socket: Socket): boolean {
    const responses = this.responsesOf(socket);
    return responses.length > 0 && responses.every(({ writableFinished, req }) => writableFinished && req.complete);
  }

  private take(socket: Socket): void {
    const address = addressGroup(socket.remoteAddress ?? '');
    const others = this.ofAddresses.get(address) ?? 0;
    if (others >= this.limits.connectionsOfAddress) {
      socket.destroy();
      return;
    }
    this.ofAddresses.set(address, others + 1);
    this.open.set(socket, performance.now());
    socket.once('close', () => {
      this.open.delete(socket);
      const left = this.ofAddresses.get(address)! - 1;
      if (left > 0) this.ofAddresses.set(address, left);
      else this.ofAddresses.delete(address);
    });
  }

  private keepBelow(most: number): void {
    const isFull = this.open.size > most;
    if (isFull && this.isFull) this.closeIdle();
    else if (isFull) this.endByAnswers();
    else if (!this.isLeaving) this.fastify.server.off('request', endConnection);
    // Node reads this at each check. A connection with a part of a header is neither idle nor in use.
    this.fastify.server.headersTimeout = isFull ? HEADERS_WHILE_FULL_MS : this.limits.headersTimeoutMs;
    this.isFull = isFull;
  }

  private endByAnswers(): void {
    const { server } = this.fastify;
    if (!server.listeners('request').includes(endConnection)) server.prependListener('request', endConnection);
  }

  /**
   * Not `closeIdleConnections`: for Node, a connection is idle while its client still reads the answer, but not before
   * its first byte. Browsers and HTTP clients open some connections in advance.
   */
  private closeIdle(): void {
    const before = performance.now() - BOUND_CHECK_MS;
    for (const [socket, openedAt] of this.open) {
      const isUnused = socket.bytesRead === 0 && openedAt < before;
      if (isUnused || this.isAnswered(socket)) socket.destroy();
    }
  }
}

function endConnection(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('connection', 'close');
}
