import { defineConfig, type Plugin } from 'vite';

/** Puts scripts and styles into the page, because a host receives the page as one text and lets it load nothing. */
const oneFile: Plugin = {
  name: 'one-file',
  apply: 'build',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html'];
    if (page?.type !== 'asset') throw new Error('There is no page.');
    let html = String(page.source).replaceAll(
      /\n\s*<(?:script|link)\b[^>]*\b(?:src|href)="[^"]*"[^>]*>(?:<\/script>)?/g,
      '',
    );
    for (const [name, file] of Object.entries(bundle)) {
      if (name === 'index.html') continue;
      const tag = file.type === 'chunk' ? 'script' : 'style';
      const text =
        file.type === 'chunk' ? file.code.replaceAll('</script', String.raw`<\/script`) : String(file.source);
      const element = `<${tag}${tag === 'script' ? ' type="module"' : ''}>${text}</${tag}>`;
      html = html.replace('</head>', () => `${element}\n  </head>`);
      delete bundle[name];
    }
    page.source = html;
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [oneFile],
  build: {
    outDir: '../../dist/viewer',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
