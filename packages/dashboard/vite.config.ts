import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

/** The styles of what is painted before the app arrives: the shell's frame and the lamp, in the theme's colours. */
const FIRST = ['tokens.css', 'first.css'];
const STYLESHEET = /\n\s*<link rel="stylesheet"[^>]*>/g;

/**
 * On a slow line the first paint waits only for the small first style sheet. The links of the other style sheets come
 * after the frame in the page, so that only the app waits for them.
 */
const firstPaint: Plugin = {
  name: 'first-paint',
  apply: 'build',
  generateBundle() {
    const source = FIRST.map((file) => readFileSync(`${import.meta.dirname}/src/look/${file}`, 'utf8')).join('\n');
    this.emitFile({ type: 'asset', name: 'first.css', source });
  },
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      const first = Object.keys(bundle ?? {}).find((file) => /\bfirst-[\w-]+\.css$/.test(file));
      const sheets = html.match(STYLESHEET) ?? [];
      return html
        .replace(STYLESHEET, '')
        .replace('<script ', `<link rel="stylesheet" href="/app/${first}">\n    <script `)
        .replace('<noscript>', `${sheets.join('').trim()}\n    <noscript>`);
    },
  },
};

/** The service that the development server passes API calls on to. */
const SERVICE = process.env.DARKROOM_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`;

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [firstPaint],
  build: {
    outDir: '../../dist/dashboard/app',
    emptyOutDir: true,
    target: 'es2023',
    manifest: 'manifest.json',
    // The content security policy forbids data: URLs.
    assetsInlineLimit: 0,
    // Every browser that can run the app preloads modules itself.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // One file has all that the first page needs, because twenty small ones compress worse.
      output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } },
      // Packages for server rendering mark files with "use client", which has no meaning here.
      onwarn: (warning, warn) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning),
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(
      ['/v1', '/graphql', '/docs', '/graphiql'].map((path) => [path, { target: SERVICE, ws: path === '/graphql' }]),
    ),
  },
});
