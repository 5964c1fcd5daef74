import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** A connection that becomes idle would keep the server open until its client closes it. */
const CHECK_MS = 100;
/**
 * After this many checks (2 s) each connection in use has had an answer, which ended it, so the others are idle. Counts
 * checks and not time: in a process that stood still, timers are due before the requests that came.
 */
const CHECKS = 20;

/**
 * The connections of clients when the process leaves. A server that closes a kept connection can cut a request that is
 * on its way, and the client sees a reset. So each answer ends its connection first, and only then are idle ones
 * closed.
 */
export class Connections {
  private readonly open = new Set<Socket>();
  private isLeaving = false;
  private checks = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly fastify: FastifyInstance) {
    fastify.server.on('connection', (socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
  }

  /** From now on the answer to a request ends its connection: the next one of its client finds another process. */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.fastify.server.prependListener('request', (_request, response: ServerResponse) =>
      response.setHeader('connection', 'close'),
    );
  }

  /** Closes the idle ones too, from `CHECKS` checks on. */
  drain(): void {
    if (this.timer !== null) return;
    this.leave();
    const timer = setInterval(() => this.closeIdle(), CHECK_MS).unref();
    this.fastify.server.once('close', () => clearInterval(timer));
    this.timer = timer;
  }

  /** After `drain`: resolves when the only open connections are those whose request is still being answered. */
  async left(): Promise<void> {
    while (this.timer !== null && this.open.size > 0 && this.checks < CHECKS) await sleep(CHECK_MS);
  }

  private closeIdle(): void {
    this.checks += 1;
    if (this.checks < CHECKS) return;
    this.fastify.server.closeIdleConnections();
    // Node does not count connections without a first byte as idle; browsers and HTTP clients open some in advance.
    for (const socket of this.open) if (socket.bytesRead === 0) socket.destroy();
  }
}
