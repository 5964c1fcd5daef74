import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildReference } from './build-reference.ts';

/**
 * Builds the service, its dashboard, its client and what its reference page needs side by side. Dashboard and client are skipped when
 * nothing that they are made from has changed.
 */

const ROOT = new URL('../', import.meta.url).pathname;
const APP = `${ROOT}dist/dashboard/app`;
const APP_STAMP = `${APP}/stamp`;
const APP_INPUTS = ['src/dashboard/app/**/*', 'schema.graphql', 'package-lock.json'];
const CLIENT_STAMP = `${ROOT}dist/client.stamp`;
const CLIENT_INPUTS = ['src/client/**/*', 'scripts/pack-client.ts', 'package.json'];
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg']);

await Promise.all([run('nest', ['build']), buildApp(), packClient(), buildReference(ROOT)]);
await chmod(`${ROOT}dist/cli/darkroom.js`, 0o755); // a command of the package

async function buildApp(): Promise<void> {
  const stamp = hashOf(APP_INPUTS);
  if (stamp === lastStamp(APP_STAMP)) return;
  await run('vite', ['build', '--config', 'src/dashboard/app/vite.config.ts', '--logLevel', 'warn']);
  await Promise.all(
    globSync('**/*', { cwd: APP })
      .filter((path) => COMPRESSED.has(extname(path)))
      .map(compress),
  );
  // Last, so that an interrupted build is done again.
  writeFileSync(APP_STAMP, stamp);
}

async function packClient(): Promise<void> {
  const stamp = hashOf(CLIENT_INPUTS);
  if (stamp === lastStamp(CLIENT_STAMP)) return;
  await import('./pack-client.ts');
  writeFileSync(CLIENT_STAMP, stamp);
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

function hashOf(inputs: string[]): string {
  const hash = createHash('sha256');
  for (const path of globSync(inputs, { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .toSorted()) {
    hash.update(path.slice(ROOT.length)).update(readFileSync(path));
  }
  return hash.digest('hex');
}

function lastStamp(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not built yet
  }
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
