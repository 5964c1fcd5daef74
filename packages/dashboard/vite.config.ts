import { defineConfig } from 'vite';

/** The service that the development server passes API calls on to. */
const SERVICE = process.env.DARKROOM_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`;

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  build: {
    outDir: '../../dist/dashboard/app',
    emptyOutDir: true,
    target: 'es2023',
    manifest: 'manifest.json',
    // A data: URL would break the content security policy.
    assetsInlineLimit: 0,
    // Every browser that the policy of the page supports preloads modules itself.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Parts for servers mark themselves with "use client", which has no meaning here.
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
