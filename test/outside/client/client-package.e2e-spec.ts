import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { freePort } from '../../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../../support/process.ts';

const root = new URL('../../../', import.meta.url).pathname;
const built = join(root, 'packages/client/dist');
const exec = promisify(execFile);

/** What a page of somebody else has to load. */
const MAX_GZIPPED_BYTES = 12_000;

describe('the package of the client', () => {
  it('is small', async () => {
    const paths = (await readdir(built, { recursive: true })).filter(
      (path) => path.endsWith('.js') && path !== 'task-element.js', // by itself for other pages
    );
    const scripts = await Promise.all(paths.map((path) => readFile(join(built, path), 'utf8')));
    expect(gzipSync(scripts.join('')).length).toBeLessThan(MAX_GZIPPED_BYTES);
  });

  it('needs nothing, and the file system only in the entry of Node', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'packages/client/package.json'), 'utf8'));
    expect(Object.keys(manifest)).not.toContain('dependencies');
    const paths = (await readdir(built, { recursive: true })).filter((path) => /\.(js|d\.ts)$/.test(path));
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths) {
      const text = await readFile(join(built, path), 'utf8');
      const foreign = [...text.matchAll(/from ['"]([^'"]+)['"]/g)]
        .map(([, from]) => from!)
        .filter((from) => !from.startsWith('.'));
      expect([path, foreign.every((from) => path === 'node.js' && from.startsWith('node:'))]).toEqual([path, true]);
      expect([path, /from ['"]\.[^'"]*(?<!\.js)['"]/.test(text)]).toEqual([path, false]);
    }
  });

  it('is what npm and TypeScript expect of a package', async () => {
    const { messages } = await publint({ pkgDir: join(root, 'packages/client'), strict: true });
    expect(messages).toEqual([]);
    const tarball = createPackageFromTarballData(await readFile(join(root, 'dist/client.tgz')));
    const analysis = await checkPackage(tarball);
    // It is an ES module, so programs of the old kind import it by import().
    const problems =
      'problems' in analysis ? analysis.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM') : null;
    expect(problems?.filter((each) => !('resolutionKind' in each) || each.resolutionKind !== 'node10')).toEqual([]);
  });
});

describe('a project elsewhere', () => {
  let beside: OwnService;
  let service: ServiceProcess;
  let folder: string;
  let url: string;
  beforeAll(async () => {
    beside = await startOwnService({ ROLE: 'api' });
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    service = await spawnService({ ...beside.env, ROLE: 'all', PORT: port, PUBLIC_URL: url });
    folder = await mkdtemp(join(tmpdir(), 'project-'));
    await cp(join(root, 'test/outside/client/project'), folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }));
  });
  afterAll(async () => {
    await service.kill('SIGTERM');
    await beside.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('installs the client from the service without a key, compiles in strict mode, and runs', async () => {
    await exec('npm', ['install', '--no-audit', '--no-fund', '--cache', join(folder, '.npm'), `${url}/client.tgz`], {
      cwd: folder,
    });
    for (const resolution of ['nodenext', 'bundler']) {
      const tsconfig = {
        compilerOptions: {
          target: 'es2022',
          module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
          moduleResolution: resolution,
          strict: true,
          skipLibCheck: false,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          typeRoots: [join(root, 'node_modules/@types')],
          types: ['node'],
          outDir: 'built',
        },
        include: ['*.ts'],
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
      const compiled = exec(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
      await compiled.catch(({ stdout }) => expect(stdout).toBe(''));
    }
    const env = { PATH: process.env.PATH, DARKROOM_URL: url, DARKROOM_API_KEY: beside.api.key! };
    const { stdout } = await exec(process.execPath, [join(folder, 'built/main.js')], { cwd: folder, env });
    expect(stdout.trim().split('\n')).toEqual(['1 picture', '100 %', 'lighthouse.png', 'completed image/png']);
    expect((await readFile(join(folder, 'lighthouse.png'))).subarray(1, 4).toString()).toBe('PNG');
  });
});
