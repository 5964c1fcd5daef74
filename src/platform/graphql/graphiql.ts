import type { FastifyInstance } from 'fastify';
import { createRequire } from 'node:module';
import { PAGE, START } from './graphiql-page.ts';

/** The page calls only this service. The editor uses inline styles and measures fonts with data URLs. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'";

/** The exports of the package's script file: the source texts of the page's assets. */
interface Assets {
  js: string;
  css: string;
  editorWorkerService: string;
  jsonWorker: string;
  graphqlWorker: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const FILES: readonly (readonly [name: string, asset: keyof Assets, type: string])[] = [
  ['graphiql.js', 'js', SCRIPT],
  ['graphiql.css', 'css', 'text/css; charset=utf-8'],
  ['editorWorkerService.js', 'editorWorkerService', SCRIPT],
  ['json.js', 'jsonWorker', SCRIPT],
  ['graphql.js', 'graphqlWorker', SCRIPT],
];

/** Serves `/graphiql`, a page to try the API including subscriptions. It loads nothing from other hosts. */
export function serveGraphiql(fastify: FastifyInstance): void {
  fastify.get('/graphiql', (_request, reply) => {
    void reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(PAGE);
  });
  fastify.get('/graphiql/start.js', (_request, reply) => {
    void reply.type(SCRIPT).send(START);
  });
  for (const [name, asset, type] of FILES) {
    fastify.get(`/graphiql/${name}`, async (_request, reply) => {
      const assets = await loadAssets();
      void reply.type(type).header('cache-control', 'public, max-age=86400'); // changes only with a release
      return assets[asset];
    });
  }
}

/**
 * Loads 9 MB of text, so call this only when the page is opened. The package's own API would render one HTML page with
 * everything inline.
 */
function loadAssets(): Promise<Assets> {
  const index = createRequire(import.meta.url).resolve('@graphql-yoga/render-graphiql');
  return import(new URL('graphiql.js', `file://${index}`).href) as Promise<Assets>;
}
