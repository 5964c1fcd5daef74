import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { buildOpenApi } from '../openapi/build-openapi.ts';
import { serveDocsFiles } from './docs-files.ts';

/** The links are relative, so that the page also works behind a proxy that adds a path prefix. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Darkroom API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <main id="reference"></main>
    <script src="docs/scalar.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/**
 * The page can show calls of the API in many languages. It shows only those that `hiddenBut` gets. A call with `fetch`
 * is TypeScript too.
 */
const START = `Scalar.createApiReference('#reference', {
  url: new URL('openapi.json', document.baseURI).href,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: hiddenBut({ shell: ['curl'], js: ['fetch'], node: [], python: ['httpx_sync', 'requests'] }),
  authentication: { preferredSecurityScheme: 'api_key' },
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  hideModels: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});

function hiddenBut(shown) {
  const known = {
    c: ['libcurl'], clojure: ['clj_http'], csharp: ['httpclient', 'restsharp'], dart: ['http'],
    fsharp: ['httpclient'], go: ['native'], http: ['http1.1'], java: ['asynchttp', 'nethttp', 'okhttp', 'unirest'],
    js: ['axios', 'fetch', 'jquery', 'ofetch', 'xhr'], kotlin: ['okhttp'],
    node: ['axios', 'fetch', 'ofetch', 'undici'], objc: ['nsurlsession'], ocaml: ['cohttp'],
    php: ['curl', 'guzzle', 'laravel'], powershell: ['restmethod', 'webrequest'],
    python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3', 'requests'], r: ['httr', 'httr2'],
    ruby: ['native'], rust: ['reqwest'], shell: ['curl', 'httpie', 'wget'], swift: ['nsurlsession'],
  };
  return Object.fromEntries(
    Object.entries(known).map(([name, clients]) => [name, clients.filter((one) => !(shown[name] ?? []).includes(one))]),
  );
}
`;

/** The page loads nothing from other servers: no fonts, no proxy, no telemetry. Its styles are inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves `/openapi.json` for programs, `/docs` for people and `/llms.txt` for language models. Call this before the
 * application listens.
 */
export function serveApiDocs(app: INestApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance;
  let openApi: string | undefined;

  fastify.get('/openapi.json', (_request, reply) => {
    openApi ??= JSON.stringify(buildOpenApi(app)); // once: the routes no longer change
    void reply.type('application/json; charset=utf-8').send(openApi);
  });
  fastify.get('/docs', (_request, reply) => {
    void reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(PAGE);
  });
  serveDocsFiles(fastify, new Map([['start.js', START]]));
}
