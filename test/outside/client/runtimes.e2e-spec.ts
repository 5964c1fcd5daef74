import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { freePort } from '../../support/free-port.ts';
import { execute, itWith, TOOLS, toolOf } from './support/tools.ts';

const root = new URL('../../../', import.meta.url).pathname;
const programs = join(root, 'test/outside/client/runtimes');

/**
 * The oldest Node that the client promises. `NODE20=…` names it; otherwise it is the Node of the system, if it is that
 * old.
 */
const oldNode = ((path = process.env.NODE20 ?? '/usr/bin/node') => {
  try {
    return execFileSync(path, ['--version'], { encoding: 'utf8' }).startsWith('v20.') ? path : 'Node 20';
  } catch {
    return 'Node 20';
  }
})();

describe('the client', () => {
  let service: OwnService;
  let origin: string;
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    origin = `http://127.0.0.1:${await freePort()}`;
    service = await startOwnService({ CORS_ORIGINS: origin });
    env = { DARKROOM_URL: service.baseUrl, DARKROOM_API_KEY: service.api.key!, NO_COLOR: '1' };
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runtime-'));
    await mkdir(join(folder, 'node_modules/@darkroom'), { recursive: true });
    const client = join(folder, 'node_modules/@darkroom/client');
    await cp(join(root, 'packages/client'), client, { recursive: true });
    await cp(programs, folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const isPicture = async () => (await readFile(join(folder, 'picture.png'))).subarray(1, 4).toString() === 'PNG';

  /** What a bundler makes of it where there is no Node. */
  async function bundle(name: string): Promise<string> {
    await execute(process.execPath, [join(programs, 'bundle.mjs'), folder, name], root);
    return readFile(join(folder, `${name}.js`), 'utf8');
  }

  itWith([oldNode], 'makes a picture in Node 20', async () => {
    expect(await execute(oldNode, ['picture.mjs'], folder, env)).toBe('picture.png\n');
    expect(await isPicture()).toBe(true);
  });

  const deno = toolOf('node_modules/.bin/deno');
  itWith([deno], 'makes a picture in Deno', async () => {
    const rights = ['--allow-env', '--allow-net', '--allow-read', '--allow-write'];
    const run = ['run', '--no-prompt', ...rights, 'picture.mjs'];
    expect(await execute(deno, run, folder, { ...env, DENO_NO_UPDATE_CHECK: '1' })).toBe('picture.png\n');
    expect(await isPicture()).toBe(true);
  });

  const bun = toolOf('node_modules/.bin/bun');
  itWith([bun], 'makes a picture in Bun', async () => {
    expect(await execute(bun, ['run', 'picture.mjs'], folder, env)).toBe('picture.png\n');
    expect(await isPicture()).toBe(true);
  });

  itWith([toolOf('node_modules/.bin/workerd')], 'makes a picture in a Worker', async () => {
    expect(await bundle('worker')).not.toContain('node:');
    expect(await execute(process.execPath, ['serve-worker.mjs', TOOLS], folder, env)).toBe('200 image/png\n');
    expect(await isPicture()).toBe(true);
  });

  describeInBrowser('in a browser', () => {
    let pages: Server | undefined;
    afterAll(() => void pages?.close());

    it('makes a picture', async () => {
      const script = await bundle('page');
      pages = createServer(({ url }, response) => {
        response.setHeader('content-type', url === '/page.js' ? 'text/javascript' : 'text/html');
        response.end(url === '/page.js' ? script : '<!doctype html><script type="module" src="/page.js"></script>');
      }).listen(Number(new URL(origin).port), '127.0.0.1');
      const browser = await launch();
      try {
        const page = await browser.newPage();
        await page.goto(origin, { waitUntil: 'networkidle' });
        const width = await page.evaluate(
          ([url, key]) => (globalThis as any).makePicture(url, key),
          [service.baseUrl, service.api.key],
        );
        expect(width).toBeGreaterThan(500);
      } finally {
        await browser.close();
      }
    });
  });
});
