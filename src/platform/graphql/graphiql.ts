import type { FastifyInstance } from 'fastify';
import { createRequire } from 'node:module';
import { PAGE, START } from './graphiql-page.ts';

/** The page calls nobody but this service. The editor styles itself inline and measures fonts by data addresses. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'";

/** What the package's script file exports: the texts of the page's parts. */
interface Parts {
  js: string;
  css: string;
  editorWorkerService: string;
  jsonWorker: string;
  graphqlWorker: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const FILES: readonly (readonly [name: string, part: keyof Parts, type: string])[] = [
  ['graphiql.js', 'js', SCRIPT],
  ['graphiql.css', 'css', 'text/css; charset=utf-8'],
  ['editorWorkerService.js', 'editorWorkerService', SCRIPT],
  ['json.js', 'jsonWorker', SCRIPT],
  ['graphql.js', 'graphqlWorker', SCRIPT],
];

/** `/graphiql`: a page to try the API, subscriptions included, with nothing from elsewhere. */
export function serveGraphiql(fastify: FastifyInstance): void {
  fastify.get('/graphiql', (_request, reply) => {
    void reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(PAGE);
  });
  fastify.get('/graphiql/start.js', (_request, reply) => {
    void reply.type(SCRIPT).send(START);
  });
  for (const [name, part, type] of FILES) {
    fastify.get(`/graphiql/${name}`, async (_request, reply) => {
      const parts = await loadParts();
      void reply.type(type).header('cache-control', 'public, max-age=86400'); // changes with a release only
      return parts[part];
    });
  }
}

/** 9 MB of text, so it is read when somebody opens the page. The package shows its page only as a whole; we need its parts. */
function loadParts(): Promise<Parts> {
  const index = createRequire(import.meta.url).resolve('@graphql-yoga/render-graphiql');
  return import(new URL('graphiql.js', `file://${index}`).href) as Promise<Parts>;
}
