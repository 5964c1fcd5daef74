import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { isHealthPath, routeOf } from './request.ts';

/**
 * Serves the routes of monitors on a port of their own, so that the port of clients can be open to all. Requests go
 * through fastify as usual. When the process stops, fastify's server stops listening long before the end. This server
 * answers until the end.
 */
export class OpsServer {
  private readonly requests = new WeakSet<IncomingMessage>();
  private readonly server: Server;

  constructor(fastify: FastifyInstance) {
    fastify.addHook('onRequest', async (request) => this.assertRightPort(request));
    this.server = createServer((request, response) => {
      this.requests.add(request);
      fastify.routing(request, response);
    });
  }

  async listen(port: number, host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, resolve);
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  /**
   * Refuses health paths on the port of the API, and all other paths on the port of operators. Compares the route that
   * was found, because the path in a URL may be encoded.
   */
  private assertRightPort(request: FastifyRequest): void {
    if (isHealthPath(routeOf(request).url ?? '') !== this.requests.has(request.raw))
      throw new ApiError('route_not_found');
  }
}
