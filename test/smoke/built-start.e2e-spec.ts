import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describeInBrowser, launch } from '../support/browser/browser.ts';
import type { TaskBody } from '../support/clients/api.ts';
import { eventually } from '../support/wait.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { decodedWidth, Visitor } from '../support/browser/visitor.ts';

/** Every page that a newcomer opens, in a real browser, from the program that was built. */
describeInBrowser('a built start', () => {
  let service: OwnService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startOwnService({ GRAPHQL_INTROSPECTION: 'on' }), launch()]);
    visitor = await Visitor.open(browser, service.baseUrl);
    page = visitor.page;
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  afterEach(() => expect(visitor.problems).toEqual([]));

  it('makes a picture in the dashboard, and shows its task and the gallery', async () => {
    await visitor.signIn(service.api.key!);
    await page.getByRole('textbox', { name: 'Prompt' }).fill('A lighthouse at dusk');
    await page.keyboard.press('Control+Enter');
    const taskId = await eventually('the task of the press', async () => {
      const { body } = await service.api.get<{ data: TaskBody[] }>('/v1/tasks?limit=1');
      return body.data[0]?.task_id;
    });
    await service.api.untilFinal(taskId);
    await visitor.goto(`/tasks/${taskId}`);
    await page.getByRole('heading', { name: 'A lighthouse at dusk' }).waitFor();
    await page.getByText('Succeeded', { exact: true }).first().waitFor();
    expect(await page.getByRole('img', { name: 'A lighthouse at dusk' }).first().evaluate(decodedWidth)).toBe(1024);
    await visitor.goto('/gallery');
    expect(
      await page.getByRole('img', { name: 'A lighthouse at dusk' }).first().evaluate(decodedWidth),
    ).toBeGreaterThan(0);
  });

  it.each([
    ['/keys', 'API keys'],
    ['/queue', 'Queue and workers'],
  ])('shows %s', async (path, heading) => {
    await visitor.goto(path);
    await page.getByRole('heading', { name: heading }).first().waitFor();
    await page.locator('[aria-busy]').waitFor({ state: 'detached' });
  });

  it('runs a query in GraphiQL', async () => {
    await page.goto(`${service.baseUrl}/graphiql`);
    const write = async (editor: string, text: string): Promise<void> => {
      await page.locator(`${editor} .view-lines`).click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(text);
    };
    await write('.graphiql-query-editor', 'query Smoke { models { id kind } }');
    await page.getByRole('button', { name: 'Headers' }).click();
    // The editor adds the closing quote and brace.
    await write('.graphiql-editor-tool .graphiql-editor:not(.hidden)', `{"authorization":"Bearer ${service.api.key}`);
    await page.locator('button.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'nano-banana-2' }).waitFor();
  });

  it('shows the reference', async () => {
    await page.goto(`${service.baseUrl}/docs`);
    await page.getByRole('heading', { name: 'Darkroom' }).first().waitFor();
    await page.getByText('/v1/generations').first().waitFor();
  });

  it('has a client package whose element runs in a page', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'darkroom-element-'));
    let pages: Server | undefined;
    try {
      const archive = join(folder, 'client.tgz');
      writeFileSync(archive, Buffer.from(await (await fetch(`${service.baseUrl}/client.tgz`)).arrayBuffer()));
      execFileSync('tar', ['-xzf', archive, '-C', folder]);
      const element = readFileSync(join(folder, 'package/dist/task-element.js'));
      pages = createServer(({ url }, response) => {
        response.setHeader('content-type', url === '/element.js' ? 'text/javascript' : 'text/html');
        response.end(
          url === '/element.js' ? element : '<!doctype html><script type="module" src="/element.js"></script>',
        );
      });
      await new Promise<void>((resolve) => pages!.listen(0, '127.0.0.1', resolve));
      const other = await browser.newPage();
      await other.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
      expect(await other.evaluate(`customElements.whenDefined('darkroom-task').then(() => 'defined')`)).toBe('defined');
      await other.close();
    } finally {
      pages?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
