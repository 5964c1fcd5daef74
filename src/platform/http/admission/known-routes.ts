import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';

/** Distinguishes a wrong method (405) from an unknown path (404) for requests that match no route. */
export class KnownRoutes {
  /**
   * In the order in which `Allow` lists them. OPTIONS is not among them: `answerUnmatched` responds to it for every
   * path.
   */
  private readonly methods = new Set<string>();

  constructor(private readonly fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ method }) => {
      for (const one of [method].flat()) if (one !== 'OPTIONS') this.methods.add(one);
    });
  }

  /**
   * The value of `Allow`, such as `GET, HEAD, OPTIONS`; empty for an unknown path. Of the paths that fit, those with
   * the fewest parameters count: else `/v1/tasks/counts` would allow DELETE, of a task with this id.
   */
  allowedAt(url: string): string {
    const found = [...this.methods].flatMap((method) => this.find(method, url));
    const fewest = Math.min(...found.map(({ parameters }) => parameters));
    const allowed = found.filter(({ parameters }) => parameters === fewest).map(({ method }) => method);
    return allowed.length === 0 ? '' : [...allowed, 'OPTIONS'].join(', ');
  }

  /** At most one. An empty segment does not match a parameter: `/v1/tasks//cancel` is unknown. */
  private find(method: string, url: string): { method: string; parameters: number }[] {
    const values = Object.values(this.fastify.findRoute({ method, url })?.params ?? { none: '' });
    return values.includes('') ? [] : [{ method, parameters: values.length }];
  }

  /** The methods of all routes. */
  allMethods(): string {
    return [...this.methods, 'OPTIONS'].join(', ');
  }

  /**
   * Responds to OPTIONS; for a request that matches no route.
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
