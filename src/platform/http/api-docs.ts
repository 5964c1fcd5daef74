import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buildOpenApi } from '../openapi/build-openapi.ts';

/** The folder of swagger-ui in node_modules: the page loads nothing from other servers. */
function pageFolder(): string {
  const nestSwagger = createRequire(import.meta.url).resolve('@nestjs/swagger');
  return dirname(createRequire(nestSwagger).resolve('swagger-ui-dist/package.json'));
}

const FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** The links are relative, so that the page also works behind a proxy that adds a path prefix. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Darkroom API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <main id="reference"></main>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;
const START = `SwaggerUIBundle({
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#reference',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;
const POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/** Serves `/openapi.json` for programs and `/docs` for people. Call it before the application listens. */
export function serveApiDocs(app: INestApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance;
  const folder = pageFolder();
  let openApi: string | undefined;

  fastify.get('/openapi.json', (_request, reply) => {
    openApi ??= JSON.stringify(buildOpenApi(app)); // once: the routes no longer change
    void reply.type('application/json; charset=utf-8').send(openApi);
  });
  fastify.get('/docs', (_request, reply) => {
    void reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(PAGE);
  });
  fastify.get('/docs/start.js', (_request, reply) => {
    void reply.type('text/javascript; charset=utf-8').send(START);
  });
  for (const [name, type] of Object.entries(FILES)) {
    fastify.get(`/docs/${name}`, async (_request, reply) => {
      void reply.type(type).header('cache-control', 'public, max-age=86400'); // changes only with a release
      return readFile(join(folder, name));
    });
  }
}
