import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { answerOnSocket } from './raw-reply.ts';
import { requestIdOf } from './request.ts';

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * The WebSocket handlers by path. An upgrade of any other path gets an error response instead of hanging. Upgrades to
 * other protocols never get here, because HTTP lets a server ignore them. Some HTTP clients offer h2c on every request.
 */
export class Upgrades {
  private readonly handlers = new Map<string, UpgradeHandler>();

  constructor(fastify: FastifyInstance) {
    fastify.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const path = request.url!.split('?', 1)[0];
      const handler = this.handlers.get(path);
      if (handler) handler(request, socket, head);
      else
        answerOnSocket(
          socket,
          new ApiError('route_not_found', { message: 'No WebSocket at this address.' }),
          requestIdOf(request),
        );
    });
  }

  /** Passes the WebSocket handshakes of `path` to `handler`, which then owns the socket. */
  claim(path: string, handler: UpgradeHandler): void {
    if (this.handlers.has(path)) throw new Error(`The upgrades of ${path} are claimed twice.`);
    this.handlers.set(path, handler);
  }
}

export function isWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}
