import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { CURRENT, type Part, PARTS, ROOT, stateOfInputs, textOf } from './build-parts.ts';

/**
 * Builds the service, its dashboard, its client and what its reference page needs side by side. A part is skipped when
 * nothing that it is made from has changed.
 */

const APP = `${ROOT}dist/dashboard/app`;
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg']);

const state = stateOfInputs(); // first: what is written while it builds is built the next time
await Promise.all([
  unlessCurrent(PARTS.service, async () => {
    await run('nest', ['build']);
    await chmod(`${ROOT}dist/cli/darkroom.js`, 0o755); // a command of the package
    const { bundleProgram } = await import('./bundle.ts');
    await bundleProgram(`${ROOT}dist/`);
  }),
  unlessCurrent(PARTS.app, buildApp),
  unlessCurrent(PARTS.client, async () => {
    await import('./pack-client.ts');
  }),
  unlessCurrent(PARTS.reference, async () => {
    const { buildReference } = await import('./build-reference.ts');
    await buildReference(ROOT);
  }),
]);
if (textOf(CURRENT) !== state) keepState();

function keepState(): void {
  try {
    writeFileSync(CURRENT, state);
  } catch {
    // The folder of another user cannot be written: each start compares the contents.
  }
}

async function buildApp(): Promise<void> {
  await run('vite', ['build', '--config', 'src/dashboard/app/vite.config.ts', '--logLevel', 'warn']);
  await Promise.all(
    globSync('**/*', { cwd: APP })
      .filter((path) => COMPRESSED.has(extname(path)))
      .map(compress),
  );
}

async function unlessCurrent(part: Part, build: () => Promise<void>): Promise<void> {
  const stamp = ROOT + part.stamp;
  const hash = hashOf(part);
  if (hash === textOf(stamp)) return;
  rmSync(stamp, { force: true });
  await build();
  // Last, so that an interrupted build is done again.
  writeFileSync(stamp, hash);
}

function run(program: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binary(program), ...args], { cwd: ROOT, stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}.`))));
  });
}

/** The script behind a command of npm. It runs under this Node, not under the one that PATH finds. */
function binary(program: string): string {
  const folder = { nest: '@nestjs/cli', vite: 'vite' }[program] ?? program;
  const { bin } = JSON.parse(readFileSync(`${ROOT}node_modules/${folder}/package.json`, 'utf8')) as {
    bin: Record<string, string>;
  };
  return `${ROOT}node_modules/${folder}/${bin[program]}`;
}

function hashOf({ inputs, exclude }: Part): string {
  const hash = createHash('sha256');
  for (const path of globSync(inputs, { cwd: ROOT, withFileTypes: true, exclude })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .toSorted()) {
    hash.update(path.slice(ROOT.length)).update(readFileSync(path));
  }
  return hash.digest('hex');
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(`${APP}/${path}`);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${APP}/${path}.br`, br), writeFile(`${APP}/${path}.gz`, gz)]);
}
