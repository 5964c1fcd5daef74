import { spawn } from 'node:child_process';
import { existsSync, globSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/**
 * Builds the service, its packages and the files of its reference page, in parallel. A part is skipped if none of its
 * inputs has changed since its stamp was written.
 */

const ROOT = dirname(import.meta.dirname);
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg']);

interface Part {
  /** Files and folders from which the part is made. */
  inputs: string[];
  build: () => Promise<void>;
}

const PARTS: Record<string, Part> = {
  service: {
    inputs: ['src', '.swcrc', 'nest-cli.json', 'tsconfig.build.json', 'package-lock.json'],
    build: async () => {
      await run('@nestjs/cli', 'nest', ['build']);
      removeOrphans();
      await chmod(join(ROOT, 'dist/cli/darkroom.js'), 0o755); // a command of the package
    },
  },
  sandbox: {
    inputs: [...sourcesOf('packages/sandbox'), '.swcrc', 'package-lock.json'],
    build: async () => {
      const cwd = join(ROOT, 'packages/sandbox');
      rmSync(join(cwd, 'dist'), { recursive: true, force: true });
      const args = ['src', '-d', 'dist', '--strip-leading-paths', '--config-file', '../../.swcrc', '--quiet'];
      await run('@swc/cli', 'swc', args, cwd);
    },
  },
  app: { inputs: ['packages/dashboard', 'schema.graphql', 'package-lock.json'], build: buildApp },
  viewer: {
    inputs: ['packages/viewer', 'package-lock.json'],
    build: () => run('vite', 'vite', ['build', '--config', 'packages/viewer/vite.config.ts', '--logLevel', 'warn']),
  },
  client: {
    inputs: [...sourcesOf('packages/client'), 'scripts/pack-client.ts'],
    build: async () => {
      await import('./pack-client.ts');
    },
  },
  python: {
    inputs: ['packages/python', 'scripts/pack-python.ts', 'package-lock.json'],
    build: async () => {
      const { buildPython } = await import('./pack-python.ts');
      await buildPython(ROOT);
    },
  },
  reference: {
    inputs: ['docs', 'scripts/build-reference.ts', 'package-lock.json'],
    build: async () => {
      const { buildReference } = await import('./build-reference.ts');
      await buildReference(ROOT);
    },
  },
};

await Promise.all(
  Object.entries(PARTS).map(async ([name, { inputs, build }]) => {
    const stamp = join(ROOT, `dist/${name}.stamp`);
    if (lastChange(inputs) < (statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0)) return;
    rmSync(stamp, { force: true });
    const begun = new Date(); // a file that changes during the build is built the next time
    await build();
    // The stamp is written last, so that an interrupted build is repeated.
    writeFileSync(stamp, '');
    utimesSync(stamp, begun, begun);
  }),
);

/** All that a package has, except `dist`. The folder itself does not count, because each build of `dist` changes it. */
function sourcesOf(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder));
  return names.filter((name) => name !== 'dist').map((name) => `${folder}/${name}`);
}

/** Removes modules of an earlier build whose sources are gone, because `npm pack` would publish them. */
function removeOrphans(): void {
  const exclude = ['dashboard/app/**', 'reference/**', 'viewer/**'];
  for (const path of globSync('**/*.{js,cjs}', { cwd: join(ROOT, 'dist'), exclude })) {
    if (!existsSync(join(ROOT, 'src', path.replace(/\.c?js$/, '.ts')))) rmSync(join(ROOT, 'dist', path));
  }
}

/**
 * The newest change of the files and folders, in milliseconds since 1970. A folder changes when a file is added or
 * removed.
 */
function lastChange(inputs: string[]): number {
  const inside = globSync(
    inputs.map((path) => `${path}/**`),
    { cwd: ROOT },
  );
  // ctime and not mtime, which some programs set to a time in the past.
  return Math.max(...[...inputs, ...inside].map((path) => statSync(join(ROOT, path)).ctimeMs));
}

async function buildApp(): Promise<void> {
  await run('vite', 'vite', ['build', '--config', 'packages/dashboard/vite.config.ts', '--logLevel', 'warn']);
  const app = join(ROOT, 'dist/dashboard/app');
  const paths = globSync('**/*', { cwd: app }).filter((path) => COMPRESSED.has(extname(path)));
  await Promise.all(paths.map((path) => compress(join(app, path))));
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}

/** Runs a package's command with this Node, not with the Node on PATH. */
async function run(packageName: string, command: string, args: string[], cwd = ROOT): Promise<void> {
  const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: Record<string, string> };
  const script = join(dirname(manifest), bin[command]!);
  const child = spawn(process.execPath, [script, ...args], { cwd, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => child.kill(signal));
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${code ?? signal}.`)),
    );
  });
}
