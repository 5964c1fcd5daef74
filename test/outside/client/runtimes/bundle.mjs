// Bundles <name>.mjs of a folder as <name>.js, as one does for browsers and Workers: node bundle.mjs <folder> <name>
import { build } from 'vite';

const [folder, name] = process.argv.slice(2);
await build({
  configFile: false,
  root: folder,
  logLevel: 'silent',
  build: {
    lib: { entry: `${folder}/${name}.mjs`, formats: ['es'], fileName: () => `${name}.js` },
    outDir: folder,
    emptyOutDir: false,
  },
});
