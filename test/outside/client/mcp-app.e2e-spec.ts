import { AxeBuilder } from '@axe-core/playwright';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { freePort } from '../../support/free-port.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

/** What a host lets a page do that names no origin (the specification of MCP Apps of 2026-01-26). */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
const WIDE = 1_024;

interface Host {
  showCall(call: object): Promise<void>;
  said: string[];
  opened: string[];
}

/** One file for a page. The bundler does not run inside of Jest. */
function hostProgram(): string {
  const root = new URL('../../../', import.meta.url).pathname;
  const folder = mkdtempSync(join(tmpdir(), 'mcp-host-'));
  const file = join(folder, 'host.js');
  try {
    const input = join(root, 'test/outside/client/support/mcp-host.mjs');
    const args = ['node_modules/rolldown/bin/cli.mjs', input, '--platform', 'browser', '--file', file];
    execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' });
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describeInBrowser('the viewer in a host of MCP Apps', () => {
  let service: OwnService;
  let pages: Server;
  let origin: string;
  let browser: Browser;
  let page: Page;
  let view: FrameLocator;
  let problems: string[];

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    service = await startOwnService({ CORS_ORIGINS: origin });
    const code = hostProgram();
    let viewer = '';
    pages = createServer(async (request, response) => {
      if (request.method === 'PUT') viewer = await text(request);
      else if (request.url === '/view') {
        response.setHeader('content-security-policy', POLICY).setHeader('content-type', 'text/html').write(viewer);
      } else if (request.url === '/host.js') response.setHeader('content-type', 'text/javascript').write(code);
      else {
        response.setHeader('content-type', 'text/html');
        response.write('<!doctype html><html lang="en"><title>Host</title><style>iframe{width:640px;border:0}</style>');
        response.write('<body><script type="module" src="/host.js"></script></body></html>');
      }
      response.end();
    }).listen(port, '127.0.0.1');
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await service?.close();
  });
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
    problems = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      const { origin: of, protocol } = new URL(request.url());
      if (protocol !== 'data:' && of !== origin && of !== service.baseUrl) problems.push(request.url());
    });
    await page.goto(origin);
    await page.waitForFunction(() => 'showCall' in globalThis);
    view = page.frameLocator('iframe');
  });
  afterEach(async () => {
    expect(problems).toEqual([]);
    await page.context().close();
  });

  const show = (name: string, given: object, theme = 'light') => {
    const call = { url: `${service.baseUrl}/mcp`, key: service.api.key, name, given, theme };
    return page.evaluate((it) => (globalThis as unknown as Host).showCall(it), call);
  };
  const widthOf = (selector: string) =>
    view.locator(selector).evaluate((media) => {
      const { naturalWidth, videoWidth } = media as unknown as { naturalWidth?: number; videoWidth?: number };
      return naturalWidth ?? videoWidth;
    });
  const state = () => view.getByRole('status');
  const picture = async (name: string) => {
    const folder = process.env.SHOTS;
    if (folder) await page.locator('iframe').screenshot({ path: `${folder}/${name}.png` });
  };

  it.each(['light', 'dark'])('shows a picture in its full size, %s', async (theme) => {
    await show('generate_image', { prompt: 'A lighthouse at dusk', size: '1024x1024' }, theme);
    await view.getByText('Done, gpt-image-2.').waitFor();
    await view.locator('img[src^="data:image/png"]').waitFor();
    expect(await widthOf('img')).toBe(WIDE);
    expect(await view.locator('img').getAttribute('alt')).toBe('A lighthouse at dusk');
    const colours = await view.locator(':root').evaluate((root) => {
      const style = (globalThis as any).getComputedStyle(root);
      return [style.backgroundColor, style.color] as string[];
    });
    expect(colours).toEqual(
      theme === 'light' ? ['rgb(255, 255, 255)', 'rgb(28, 27, 25)'] : ['rgb(28, 27, 25)', 'rgb(236, 235, 232)'],
    );
    const { violations } = await new AxeBuilder({ page }).include('iframe').analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    await picture(`picture-${theme}`);
  });

  it('shows the progress of a film while its call runs, then the film', async () => {
    const shown = show('generate_video', { prompt: 'Waves #delay:6', resolution: '720P', duration: 1 });
    await view.getByText(/^Running, \d+ %/).waitFor();
    await picture('progress-light');
    await shown;
    await view.locator('video').waitFor();
    await view
      .locator('video')
      .evaluate(
        (film: any) =>
          film.readyState > 0 || new Promise((resolve) => film.addEventListener('loadedmetadata', resolve)),
      );
    expect(await view.locator('video').evaluate((film: any) => film.videoWidth)).toBe(1280);
    await picture('film-light');
  });

  it('follows a task whose call did not wait, and tells the model', async () => {
    await show('generate_image', { prompt: 'A harbour #delay:3', wait_s: 0 }, 'dark');
    await view.getByRole('progressbar').waitFor();
    await picture('progress-dark');
    await view.locator('img[src^="data:image/png"]').waitFor();
    await page.waitForFunction('said.length > 0');
    const said = await page.evaluate(() => (globalThis as unknown as Host).said);
    expect(said).toEqual([
      expect.stringMatching(/^The viewer shows the task task_\w+ \(succeeded\), prompt: A harbour/),
    ]);
  });

  it('makes it again, varies it and opens it', async () => {
    await show('generate_image', { prompt: 'A red boat' });
    await view.locator('img[src^="data:image/png"]').waitFor();
    const first = await newest();
    expect(first.parent_task_id).toBeNull();
    await view.getByRole('button', { name: 'Again' }).click();
    const again = await taskAfter(first.task_id);
    expect(again).toMatchObject({ parent_task_id: first.task_id, relation: 'retry', input: { prompt: 'A red boat' } });
    await view.getByRole('button', { name: 'Vary' }).click();
    await view.getByLabel('Another prompt').fill('A blue boat');
    await picture('vary-light');
    await view.getByRole('button', { name: 'Vary' }).click();
    await view.locator('img[alt="A blue boat"][src^="data:image/png"]').waitFor();
    const varied = await taskAfter(again.task_id);
    expect(varied).toMatchObject({
      parent_task_id: again.task_id,
      relation: 'variation',
      input: { prompt: 'A blue boat' },
    });
    await view.getByRole('button', { name: 'Open' }).click();
    await page.waitForFunction(() => (globalThis as unknown as Host).opened.length > 0);
    const opened = await page.evaluate(() => (globalThis as unknown as Host).opened);
    expect((await fetch(opened[0]!)).headers.get('content-type')).toBe('image/png');
  });

  it('says why a task failed, and offers to make it again', async () => {
    await show('generate_image', { prompt: 'x #fail:content_policy_violation' });
    await state()
      .getByText(/refused/)
      .waitFor();
    expect(await view.getByRole('button', { name: 'Vary' }).isVisible()).toBe(true);
    expect(await view.getByRole('progressbar').isVisible()).toBe(false);
    await picture('failed-light');
    await show('generate_image', { prompt: 'x', size: '1x1' });
    await state().getByText(/size/).waitFor();
  });

  const newest = async () => (await service.api.call<{ data: any[] }>('GET', '/v1/tasks?limit=1')).body.data[0];
  const taskAfter = async (parent: string) => {
    await eventually('the next task', async () => (await newest()).parent_task_id === parent);
    return newest();
  };
});
