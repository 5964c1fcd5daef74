// Runs the Worker in workerd, asks it once and writes what it answers to picture.png.
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [tools] = process.argv.slice(2);
const entry = createRequire(`${tools}/package.json`).resolve('miniflare');
const module = await import(pathToFileURL(entry).href);
const { Miniflare } = module.Miniflare ? module : module.default;
const worker = new Miniflare({
  modules: true,
  scriptPath: 'worker.js',
  compatibilityDate: '2026-07-01',
  bindings: { DARKROOM_URL: process.env.DARKROOM_URL, DARKROOM_API_KEY: process.env.DARKROOM_API_KEY },
});
const response = await worker.dispatchFetch('http://worker/');
await writeFile('picture.png', new Uint8Array(await response.arrayBuffer()));
console.log(response.status, response.headers.get('content-type'));
await worker.dispose();
