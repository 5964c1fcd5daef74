import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { matches } from '../platform/http/request.ts';
import type { BuiltFile } from './built-files.ts';
import { codingFor } from './content-coding.ts';
import { cacheControlOf, pageHeaders } from './page-headers.ts';

const PAGE = 'index.html';

/**
 * Returns the origin of the bucket to which links to files redirect; null if links do not redirect. Rejects if the
 * origin is unknown.
 */
export type BucketOrigin = () => Promise<string | null>;

/** Serves the app below `/app/`. Redirects `/app` to `/app/`, and also `/` if the request accepts HTML. */
export function serveApp(fastify: FastifyInstance, files: ReadonlyMap<string, BuiltFile>, origin: BucketOrigin): void {
  fastify.get('/', (request, reply) => {
    void reply.header('vary', 'accept');
    if (!namesHtml(request)) throw new ApiError('route_not_found');
    return reply.redirect('/app/', 302);
  });
  fastify.get('/app', (_request, reply) => reply.redirect('/app/', 302));
  fastify.get<{ Params: { '*': string } }>('/app/*', async (request, reply) => {
    if (!files.has(PAGE)) {
      throw new ApiError('service_unavailable', {
        message: 'The dashboard is not built: run `npm run build`, then start the service again.',
      });
    }
    const path = request.params['*'];
    // Every view of the app has a URL of its own, which the page reads. So a path without a file gets the page. A
    // missing asset gets 404, because it belongs to another build.
    const file = files.get(path) ?? (path.startsWith('assets/') ? undefined : files.get(PAGE));
    if (!file) throw new ApiError('route_not_found');
    // Without credentials for the bucket, its origin is unknown and no link leads to it. The page itself still works.
    void reply.headers(pageHeaders(await origin().catch(() => null)));
    return send(file, request, reply);
  });
}

const namesHtml = ({ headers }: FastifyRequest): boolean => /\btext\/html\b/i.test(headers.accept ?? '');

function send(file: BuiltFile, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const coding = codingFor(file, headers['accept-encoding'] as string | undefined);
  const { bytes, etag } = file.in[coding] ?? file.in.identity;
  void reply.headers({ 'cache-control': cacheControlOf(file.path), etag, vary: 'accept-encoding' });
  if (matches(headers['if-none-match'], etag)) return reply.code(304).send();
  if (coding !== 'identity') void reply.header('content-encoding', coding);
  return reply.type(file.contentType).send(bytes);
}
