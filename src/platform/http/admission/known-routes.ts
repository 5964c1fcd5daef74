import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';

/** Remembers which methods the service has, so that an unmatched request can be told apart: wrong method or no such address. */
export class KnownRoutes {
  /** In the order in which `Allow` lists them. OPTIONS is answered everywhere, see below. */
  private readonly methods = new Set<string>();

  constructor(private readonly fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ method }) => {
      for (const one of [method].flat()) if (one !== 'OPTIONS') this.methods.add(one);
    });
  }

  /** `GET, HEAD, OPTIONS`; empty when nothing is at the address. */
  allowedAt(url: string): string {
    const allowed = [...this.methods].filter((method) => this.has(method, url));
    return allowed.length === 0 ? '' : [...allowed, 'OPTIONS'].join(', ');
  }

  /** An empty segment is no parameter: `/v1/tasks//cancel` is nowhere. */
  private has(method: string, url: string): boolean {
    const found = this.fastify.findRoute({ method, url });
    return found !== null && !Object.values(found.params).includes('');
  }

  /** Every method that some address takes. */
  allMethods(): string {
    return [...this.methods, 'OPTIONS'].join(', ');
  }

  /**
   * For a request that no route matched: answers OPTIONS.
   * @returns true when answered
   * @throws ApiError route_not_found or method_not_allowed
   */
  answerUnmatched(request: FastifyRequest, reply: FastifyReply): boolean {
    const allow = this.allowedAt(request.raw.url!);
    if (allow === '') throw new ApiError('route_not_found');
    if (request.method !== 'OPTIONS') {
      throw new ApiError('method_not_allowed', {
        message: `This address takes ${allow}, not ${request.method}.`,
        headers: { allow },
      });
    }
    void reply.code(204).header('allow', allow).send();
    return true;
  }
}
