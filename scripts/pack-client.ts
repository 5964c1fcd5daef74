// Builds packages/client and packs it as dist/client.tgz, which the service serves at /client.tgz. `npm run client` and
// each build run this program.
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { isolatedDeclaration } from 'rolldown/experimental';
import ts from 'typescript';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');
const client = join(root, 'packages/client');
const source = join(client, 'src');
const element = join(source, 'element');
const folder = join(client, 'dist');

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

await rm(folder, { recursive: true, force: true });
const files = globSync('**/*.ts', { cwd: source })
  .filter((path) => !path.endsWith('.spec.ts'))
  .map((path) => join(source, path));
for (const fileName of files) {
  const text = await readFile(fileName, 'utf8');
  const name = relative(source, fileName).replace(/\.ts$/, '');
  // Each file is compiled alone. Its exports have explicit types, as `isolatedDeclarations` demands, so this program
  // checks no types. TypeScript's own transpileDeclaration would declare members like [Symbol.asyncIterator] twice.
  const { code, errors } = await isolatedDeclaration(fileName, text);
  if (errors[0]) throw new Error(`${fileName}: ${errors[0].message}`);
  // The compiler rewrites the imports of scripts (below), but not those of declarations.
  await write(`${name}.d.ts`, code.replaceAll(/(['"]\.[^'"]*)\.ts(?=['"])/g, '$1.js'));
  if (name.endsWith('.gen') || fileName.startsWith(element)) continue;
  // Comments are removed from scripts, because readers find them in the types.
  const script = ts.transpileModule(text, { fileName, compilerOptions: { ...options, removeComments: true } });
  await write(`${name}.js`, script.outputText);
}
// One file, so that a page without a bundler can load it.
await build({
  configFile: false,
  logLevel: 'warn',
  build: {
    lib: { entry: join(element, 'task-element.ts'), formats: ['es'], fileName: 'task-element' },
    outDir: folder,
    emptyOutDir: false,
    target: 'es2022',
    minify: true,
  },
});
await mkdir(join(root, 'dist'), { recursive: true });
const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', join(root, 'dist')];
const { stdout } = await promisify(execFile)('npm', pack, {
  cwd: client,
  shell: process.platform === 'win32', // there npm is a script
});
await rename(join(root, 'dist', stdout.trim()), join(root, 'dist/client.tgz'));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}
