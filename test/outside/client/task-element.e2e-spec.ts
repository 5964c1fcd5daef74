import { AxeBuilder } from '@axe-core/playwright';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { decodedWidth } from '../../support/browser/visitor.ts';
import { blocksOf } from '../../../scripts/docs-check/blocks.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { freePort } from '../../support/free-port.ts';

const root = new URL('../../../', import.meta.url).pathname;
const built = join(root, 'packages/client/dist/task-element.js');

/** What a page has to load for it. */
const MAX_GZIPPED_BYTES = 8_000;

/** A page of somebody else, with the strictest policy under which it can still load its own scripts. */
const POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'";

interface Element {
  src: string;
  labels: Record<string, string>;
  fetch: typeof fetch;
}

describe('the element for pages', () => {
  it('is one small file that loads nothing else', async () => {
    const script = await readFile(built, 'utf8');
    expect(gzipSync(script, { level: 9 }).length).toBeLessThan(MAX_GZIPPED_BYTES);
    expect(script).not.toMatch(/^import |\bimport\(|innerHTML|\beval\(/m);
  });

  it('can be loaded where there is no page', async () => {
    const { DarkroomTask } = (await import(built)) as { DarkroomTask: unknown };
    expect(typeof DarkroomTask).toBe('function');
  });
});

describeInBrowser('<darkroom-task>', () => {
  let service: OwnService;
  let pages: Server;
  let origin: string;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    service = await startOwnService({ CORS_ORIGINS: origin });
    const policy = `${POLICY}; connect-src ${service.baseUrl}; img-src ${service.baseUrl}; media-src ${service.baseUrl}`;
    pages = createServer(async ({ url }, response) => {
      if (url === '/task-element.js')
        return void response.setHeader('content-type', 'text/javascript').end(await readFile(built));
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy });
      response.end(
        '<!doctype html><html lang="en"><title>Page</title><script type="module" src="/task-element.js"></script><main><h1>Page</h1></main>',
      );
    }).listen(port, '127.0.0.1');
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    pages.close();
    await service.close();
  });
  beforeEach(async () => {
    problems = [];
    page = await (await browser.newContext()).newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(origin);
  });
  afterEach(() => page.context().close());

  /** Puts an element on the page that asks the service itself, with the key. */
  async function show(path: string, attributes: Record<string, string> = {}): Promise<void> {
    const given = { src: service.baseUrl + path, key: service.api.key!, attributes };
    await page.evaluate(({ src, key, attributes }) => {
      const { document, fetch } = globalThis as unknown as { document: any; fetch: any };
      const element = document.createElement('darkroom-task');
      element.fetch = (url: string, init: { headers: object }) =>
        fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      element.src = src;
      document.querySelector('main').append(element);
    }, given);
  }

  const create = async (request: object): Promise<string> =>
    `/v1/tasks/${(await service.api.create({ model: 'gpt-image-2', ...request } as never)).body.task_id}`;

  it('shows the progress, then the picture, under a strict policy', async () => {
    const path = await create({ prompt: 'A lighthouse #delay:3', resolution: '1K', aspect_ratio: '3:2' });
    await show(path);
    const element = page.locator('darkroom-task');
    await page.getByText('In progress').and(page.locator('[part=status]')).waitFor();
    const { width, height } = (await page.locator('[part=frame]').boundingBox())!;
    expect(width / height).toBeCloseTo(1.5, 1);
    const { violations: whileRunning } = await new AxeBuilder({ page }).analyze();
    const picture = page.getByRole('img', { name: 'A lighthouse #delay:3' });
    await picture.waitFor();
    expect(await picture.evaluate(decodedWidth)).toBeGreaterThan(1000);
    expect(await element.getAttribute('status')).toBe('succeeded');
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect([...whileRunning, ...violations]).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('shows every picture, with the words of the page', async () => {
    await show(await create({ prompt: 'Two doors', n: 2, resolution: '1K' }), { alt: 'Doors' });
    for (const name of ['Doors (1)', 'Doors (2)']) {
      const picture = page.getByRole('img', { name, exact: true });
      expect(await picture.evaluate(decodedWidth)).toBeGreaterThan(500);
    }
  });

  it('plays a film', async () => {
    await show(await create({ model: 'sora-2', prompt: 'A wave', duration: 1, resolution: '720P' }), { alt: 'A wave' });
    const video = page.locator('video[aria-label="A wave"]');
    await video.waitFor();
    const played = await video.evaluate(async (element) => {
      const film = element as unknown as { muted: boolean; play(): Promise<void>; videoWidth: number };
      film.muted = true;
      await film.play();
      return film.videoWidth;
    });
    expect(played).toBeGreaterThan(100);
    expect(problems).toEqual([]);
  });

  it('tells a failure, and in the language of the page', async () => {
    const path = await create({ prompt: 'Tea #fail:content_policy_violation' });
    await show(path);
    await page.getByRole('alert').getByText('content_policy_violation').waitFor();
    await page.locator('darkroom-task').evaluate((element) => {
      (element as unknown as Element).labels = { failed: 'Das ging nicht.' };
    });
    await page.getByRole('alert').getByText('Das ging nicht.').waitFor();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  });

  it('shows nothing of a text as markup', async () => {
    const prompt = '"><img src=x onerror=alert(1)>';
    await show(await create({ prompt, resolution: '1K' }));
    await page.getByRole('img', { name: prompt }).waitFor();
    expect(await page.locator('darkroom-task img').count()).toBe(1);
    expect(problems).toEqual([]);
  });

  it('says that a task cannot be read, and tries again when asked', async () => {
    const path = await create({ prompt: 'A lamp', resolution: '1K' });
    await show('/v1/tasks/task_01jd8e5t9kf3qs7m2v4xw6yzab');
    await page.getByRole('alert').getByText('The state cannot be read.').waitFor();
    const isTold = page
      .locator('darkroom-task')
      .evaluate(
        (element) => new Promise((resolve) => (element as any).addEventListener('darkroom-error', () => resolve(true))),
      );
    await page.getByRole('button', { name: 'Try again' }).click();
    expect(await isTold).toBe(true);
    await page.locator('darkroom-task').evaluate((element, src) => {
      (element as unknown as Element).src = src;
    }, service.baseUrl + path);
    await page.getByRole('img', { name: 'A lamp' }).waitFor();
  });

  it('reads again and again where there is no stream, and replaces a dead link', async () => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.evaluate(() => {
      const { fetch: original } = globalThis as any;
      let isFirst = true;
      (globalThis as any).fetch = async (url: string, init: object) => {
        const response = await original(url, init);
        const task = await response.json();
        if (task.status !== 'succeeded' || !isFirst) return Response.json(task);
        isFirst = false;
        task.result.outputs[0].url += 'gone';
        return Response.json(task);
      };
    });
    await show(await create({ prompt: 'A bridge', resolution: '1K' }), { poll: '' });
    const picture = page.getByRole('img', { name: 'A bridge' });
    await picture.waitFor();
    await page.waitForFunction(() => {
      const root = (globalThis as any).document.querySelector('darkroom-task').shadowRoot;
      return root.querySelector('img')?.naturalWidth > 500;
    });
    expect(requests.filter((url) => url.endsWith('/events'))).toEqual([]);
    expect(requests.filter((url) => url.endsWith('gone'))).toHaveLength(1);
  });

  it('stops asking when it is taken from the page', async () => {
    await show(await create({ prompt: 'A tower #hang' }));
    await page.getByText('In progress').and(page.locator('[part=status]')).waitFor();
    const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
    await page.locator('darkroom-task').evaluate((element) => (element as any).remove());
    await closed;
  });
});

describeInBrowser('the page of the guide', () => {
  let service: OwnService;
  let folder: string;
  let server: ChildProcess;
  let browser: Browser;

  beforeAll(async () => {
    service = await startOwnService();
    folder = await mkdtemp(join(tmpdir(), 'element-'));
    await mkdir(join(folder, 'node_modules/@darkroom'), { recursive: true });
    await symlink(join(root, 'packages/client'), join(folder, 'node_modules/@darkroom/client'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    for (const { marks, text } of blocksOf(root, 'docs/guides/task-element.md'))
      if (marks.file) await writeFile(join(folder, marks.file), text);
    const env = {
      PATH: process.env.PATH,
      PORT: '0',
      DARKROOM_URL: service.baseUrl,
      DARKROOM_API_KEY: service.api.key!,
    };
    server = spawn(process.execPath, ['server.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    server.kill();
    await service.close();
    await rm(folder, { recursive: true });
  });

  it('makes a picture with the key on the server alone', async () => {
    const [address] = (await once(createInterface(server.stdout!), 'line')) as [string];
    const page = await (await browser.newContext()).newPage();
    const problems: string[] = [];
    const sent: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => sent.push(JSON.stringify([request.url(), request.headers()])));
    await page.goto(address, { waitUntil: 'networkidle' });
    await page.getByLabel('Prompt').fill('A harbour');
    await page.getByRole('button', { name: 'Make it' }).click();
    const picture = page.getByRole('img', { name: 'A harbour' });
    await picture.waitFor();
    expect(await picture.evaluate(decodedWidth)).toBeGreaterThan(1000);
    expect(sent.join('\n')).not.toContain(service.api.key!);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    const foreign = await fetch(new URL('/pictures/task_01jd8e5t9kf3qs7m2v4xw6yzab', address));
    expect(foreign.status).toBe(404);
    expect(problems.filter((each) => !each.includes('favicon'))).toEqual([]);
  });
});
