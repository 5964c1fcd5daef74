import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';

/** Distinguishes a wrong method (405) from an unknown path (404) for requests that match no route. */
export class KnownRoutes {
  /**
   * The methods of all routes, in the order of `Allow`. Without OPTIONS, because `answerUnmatched` responds to OPTIONS
   * for every path that has a route.
   */
  private readonly methods = new Set<string>();

  constructor(private readonly fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ method }) => {
      for (const one of [method].flat()) if (one !== 'OPTIONS') this.methods.add(one);
    });
  }

  /**
   * The value of `Allow`, such as `GET, HEAD, OPTIONS`; empty for an unknown path. Of the routes that match, those with
   * the fewest parameters count. Otherwise `/v1/tasks/counts` would allow DELETE, as if `counts` were the id of a task.
   */
  allowedAt(url: string): string {
    const found = [...this.methods].flatMap((method) => this.find(method, url));
    const fewest = Math.min(...found.map(({ parameters }) => parameters));
    const allowed = found.filter(({ parameters }) => parameters === fewest).map(({ method }) => method);
    return allowed.length === 0 ? '' : [...allowed, 'OPTIONS'].join(', ');
  }

  /** Finds at most one route. An empty segment does not match a parameter: `/v1/tasks//cancel` is unknown. */
  private find(method: string, url: string): { method: string; parameters: number }[] {
    const values = Object.values(this.fastify.findRoute({ method, url })?.params ?? { none: '' });
    return values.includes('') ? [] : [{ method, parameters: values.length }];
  }

  /** The value of `Allow` with the methods of all routes. */
  allMethods(): string {
    return [...this.methods, 'OPTIONS'].join(', ');
  }

  /**
   * Call this for a request that matches no route. Responds to OPTIONS if the path has a route.
   * @returns true if it responded
   * @throws ApiError route_not_found or method_not_allowed
   */
  answerUnmatched(request: FastifyRequest, reply: FastifyReply): boolean {
    const allow = this.allowedAt(request.raw.url!);
    if (allow === '') throw new ApiError('route_not_found');
    if (request.method !== 'OPTIONS') {
      throw new ApiError('method_not_allowed', {
        message: `This path accepts ${allow}, not ${request.method}.`,
        headers: { allow },
      });
    }
    void reply.code(204).header('allow', allow).send();
    return true;
  }
}
