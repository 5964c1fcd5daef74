import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { isWellFormed } from '../../auth/credentials/api-key-format.ts';
import { bearerTokenOf } from '../../auth/credentials/credential.ts';
import { ApiError } from '../../errors/api-error.ts';
import { toErrorBody } from '../../errors/error.filter.ts';
import { Config } from '../../platform/config/config.ts';
import { hasBody } from '../../platform/http/request.ts';
import { MCP_PATH } from '../contract/mcp-path.ts';

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '::1'];
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** A JSON-RPC error code that the protocol leaves to the server. */
const REFUSED = -32_000;

/**
 * Protects against pages that reach this server through the browser of a user. Such a page may use a name that resolves
 * to a loopback address (DNS rebinding). The check runs before the body is read.
 */
@Injectable()
export class OriginCheck {
  private readonly origins: ReadonlySet<string>;
  /** The names that `Host` may have. null: not checked, because the service does not listen on a loopback address. */
  private readonly hosts: ReadonlySet<string> | null;

  /** Adds its hook in the constructor, because Nest's lifecycle hooks run after the routes are added. */
  constructor(
    adapter: HttpAdapterHost,
    private readonly config: Config,
  ) {
    const publicUrl = new URL(config.publicUrl);
    this.origins = new Set([publicUrl.origin, ...config.corsOrigins, ...config.mcpAllowedOrigins]);
    this.hosts = LOOPBACK_HOSTS.includes(config.host) ? new Set([...LOOPBACK_NAMES, publicUrl.hostname]) : null;
    if (config.role === 'worker') return; // a worker has no MCP route
    adapter.httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      if (route.url === MCP_PATH) route.onRequest = [route.onRequest ?? [], this.check].flat();
    });
  }

  private readonly check: onRequestHookHandler = (request, reply, done) => {
    try {
      if (!this.answers(request, reply)) done();
    } catch (error) {
      done(error as Error);
    }
  };

  /**
   * @returns true if this method has answered the request
   * @throws ApiError if a POST with a body has a missing or malformed key
   */
  private answers(request: FastifyRequest, reply: FastifyReply): boolean {
    const { origin, host } = request.headers;
    if (!this.isAllowed(origin) || !this.isOurs(host)) {
      refuse(request, reply);
      return true;
    }
    if (request.method === 'POST' && hasBody(request.raw.headers)) {
      if (!isWellFormed(bearerTokenOf(request.headers.authorization))) throw new ApiError('invalid_api_key');
    }
    return false;
  }

  private isAllowed(origin: string | undefined): boolean {
    return origin === undefined || this.origins.has(origin) || this.config.corsOrigins.includes('*');
  }

  private isOurs(host: string | undefined): boolean {
    if (this.hosts === null || host === undefined) return true; // no browser uses HTTP/1.0, the only version without Host
    return this.hosts.has(URL.parse(`http://${host}`)?.hostname ?? '');
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply): void {
  const error = new ApiError('origin_not_allowed');
  const { message, ...data } = toErrorBody(error, request.id).error;
  void reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ jsonrpc: '2.0', error: { code: REFUSED, message, data } }));
}
