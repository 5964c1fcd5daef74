import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Rest } from '../../support/browser/rest.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { Visitor } from '../../support/browser/visitor.ts';

const run = promisify(execFile);
const ROOT = new URL('../../../', import.meta.url).pathname;
const SNIPPET_MS = 60_000;

interface Listed {
  data: { task_id: string; model: string; status: string; input: Record<string, unknown> }[];
}

describeInBrowser('the dashboard and other clients', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let rest: Rest;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    rest = new Rest(service.baseUrl, service.api.key as string);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    await browser.close();
  });

  it('shows code that runs as shown and makes the same request, in each language and way', async () => {
    const { page } = visitor;
    const prompt = `it's a "kite" over $HOME`;
    await page.locator('textarea[name=prompt]').fill(prompt);
    await visitor.openDrawer('Settings');
    await page.getByRole('radiogroup', { name: 'Aspect ratio' }).getByText('3:2').click();
    await visitor.openDrawer('Code');
    const folder = await mkdtemp(join(ROOT, 'coverage-snippets-'));
    try {
      const snippets: { name: string; language: string; code: string }[] = [];
      for (const language of ['cURL', 'TypeScript', 'Python', 'GraphQL']) {
        await page.getByRole('radiogroup', { name: 'Language' }).getByText(language, { exact: true }).click();
        const ways = page.getByLabel('How the code waits');
        for (const way of await ways.locator('option').allTextContents()) {
          await ways.selectOption({ label: way });
          const code = (await page.getByRole('region', { name: /^The request in/ }).textContent()) ?? '';
          snippets.push({ name: `${language}: ${way}`, language, code });
        }
      }
      expect(snippets).toHaveLength(11);
      const outputs = await Promise.all(
        snippets.map(async ({ language, code }, index) => {
          const isModule = language === 'TypeScript' || code.startsWith('import {');
          const file = join(folder, `${index}.${isModule ? 'mts' : language === 'Python' ? 'py' : 'sh'}`);
          await writeFile(file, code);
          const program = isModule ? process.execPath : language === 'Python' ? 'python3' : 'sh';
          const env = {
            PATH: process.env['PATH'],
            HOME: process.env['HOME'],
            DARKROOM_API_KEY: service.api.key as string,
          };
          return (await run(program, [file], { env, cwd: folder, timeout: SNIPPET_MS })).stdout;
        }),
      );
      const { data } = await rest.call<Listed>('/v1/tasks?limit=50');
      expect(data).toHaveLength(snippets.length);
      for (const task of data) {
        expect(task).toMatchObject({ model: 'gpt-image-2', input: { prompt, aspect_ratio: '3:2' } });
      }
      for (const [index, output] of outputs.entries()) {
        const { name } = snippets[index] as { name: string };
        const shows = name === 'GraphQL: answer at once' ? '"taskId":"task_' : '/v1/files/file_';
        expect({ name, output }).toEqual({ name, output: expect.stringContaining(shows) });
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('draws the controls of every model as its schema says, value by value', async () => {
    const { page } = visitor;
    await visitor.goto('/create');
    await visitor.openDrawer('Settings');
    const { data: models } = await rest.call<{ data: { id: string; parameters: Schema }[] }>('/v1/models');
    expect(models).toHaveLength(5);
    for (const { id, parameters } of models) {
      await page.getByRole('combobox', { name: 'Model' }).selectOption(id);
      for (const [name, field] of Object.entries(parameters.properties)) {
        if (!field.enum || field.const !== undefined) continue;
        const control = page.locator(`[data-field="${name}"]`);
        const shown = await control.evaluate((element) => {
          const inputs = [...(element as unknown as Within).querySelectorAll('label:has(input[type=radio])')];
          const options = [...(element as unknown as Within).querySelectorAll('option')];
          return [...inputs, ...options].map((each) => each.textContent.trim());
        });
        expect({ id, name, shown: shown.filter((each) => each !== 'as the provider makes it') }).toEqual({
          id,
          name,
          shown: field.enum,
        });
      }
      const count = parameters.properties['n'];
      if (count) {
        const stepper = page.locator('[data-field="n"] input[type=number]');
        expect([await stepper.getAttribute('min'), await stepper.getAttribute('max')]).toEqual([
          String(count.minimum),
          String(count.maximum),
        ]);
      }
    }
  });

  it('keeps pages of another port out: no query, no socket, no REST by the cookie', async () => {
    const neighbour = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>hi'));
    await new Promise<void>((resolve) => neighbour.listen(0, '127.0.0.1', resolve));
    try {
      const page = await visitor.context.newPage();
      await page.goto(`http://127.0.0.1:${(neighbour.address() as AddressInfo).port}/`);
      const answers: Promise<number>[] = [];
      page.on('response', (response) => {
        if (response.url().endsWith('/graphql')) answers.push(Promise.resolve(response.status()));
      });
      const socket = await page.evaluate(`new Promise((resolve) => {
        const socket = new WebSocket('${service.baseUrl.replace('http', 'ws')}/graphql', 'graphql-transport-ws');
        socket.onopen = () => socket.send('{"type":"connection_init"}');
        socket.onmessage = () => resolve('accepted');
        socket.onclose = () => resolve('refused');
      })`);
      expect(socket).toBe('refused');
      await page.evaluate(`fetch('${service.baseUrl}/graphql', { method: 'POST', credentials: 'include',
        mode: 'no-cors', body: '{"query":"{ viewer { id } }"}' }).then(() => 0, () => 0)`);
      await eventually('the query is answered', async () => answers.length > 0);
      expect(await answers[0]).toBe(403);
      await page.close();
      const cookies = await visitor.context.cookies();
      const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
      expect((await fetch(`${service.baseUrl}/v1/tasks`, { headers: { cookie } })).status).toBe(401);
    } finally {
      neighbour.close();
    }
  });

  it('polls where upgrades are blocked, and the task still ends on the screen', async () => {
    const { page } = visitor;
    await page.routeWebSocket('**/graphql', (socket) => socket.close({ code: 3000 }));
    await visitor.goto('/create');
    await page.getByText('Polling', { exact: true }).waitFor();
    await visitor.openDrawer('Settings');
    await page.getByRole('combobox', { name: 'Model' }).selectOption('gpt-image-2'); // the draft may have another one
    await page.locator('textarea[name=prompt]').fill('Without a socket');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article').first().getByText('Succeeded').waitFor();

    // The task that one looks at is read more often than the list.
    const reads: number[] = [];
    page.on('request', (request) => {
      if ((request.postData() ?? '').includes('query OneTask')) reads.push(performance.now());
    });
    const id = await rest.make({ model: 'gpt-image-2', prompt: 'Watched without a socket #delay:7' });
    await visitor.goto(`/tasks/${id}`);
    await page.getByText('Polling', { exact: true }).waitFor();
    await page.getByText('Succeeded', { exact: true }).first().waitFor();
    const pausesMs = reads.slice(1).map((at, index) => at - (reads[index] as number));
    // On a busy machine only the shortest pause tells. The list is read every 5 s.
    expect(Math.min(...pausesMs)).toBeGreaterThan(1_800);
    expect(Math.min(...pausesMs)).toBeLessThan(4_000);
    const known = reads.length;
    await page.waitForTimeout(2_500);
    expect(reads).toHaveLength(known); // a task that has ended changes no more
    visitor.problems.length = 0; // the browser logs each refused socket
  });

  it('polls in a tab for which the key has no socket left', async () => {
    const clients = Array.from({ length: 20 }, () =>
      createClient({
        url: `${service.baseUrl.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${service.api.key}` },
        lazy: false,
        retryAttempts: 0,
        onNonLazyError: () => undefined,
      }),
    );
    await Promise.all(clients.map((client) => new Promise<void>((resolve) => client.on('connected', () => resolve()))));
    const page = await visitor.context.newPage();
    await page.goto(`${service.baseUrl}/app/create`);
    await page.getByText('Polling', { exact: true }).waitFor();
    const id = await rest.make({ model: 'gpt-image-2', prompt: 'The twenty-first tab' });
    await page.goto(`${service.baseUrl}/app/tasks/${id}`);
    await page.getByText('Succeeded', { exact: true }).first().waitFor();
    await page.close();
    await Promise.all(clients.map((client) => client.dispose()));
  });

  it('finds a picture and uses it, and signs out, by keyboard alone at 400 % without motion', async () => {
    const small = await Visitor.open(browser, service.baseUrl, { width: 320, height: 256 });
    const { page } = small;
    const { keyboard } = page;
    await rest.finished({ model: 'gpt-image-2', prompt: 'Found by keyboard' });
    await small.enter(service.api.key as string);
    await page.locator('textarea[name=prompt]').waitFor();
    await page.evaluate('document.activeElement.blur()');
    await keyboard.press('g');
    await keyboard.press('g');
    await page.waitForURL('**/app/gallery');
    const tile = page.locator('[data-file]').first();
    await tile.waitFor();
    for (let presses = 0; presses < 30; presses++) {
      if (await page.evaluate('Boolean(document.activeElement?.dataset?.file)')) break;
      await keyboard.press('Tab');
    }
    await keyboard.press('u');
    await page.getByRole('button', { name: 'Reference images: 1' }).waitFor();
    await page.waitForURL('**/app/create');
    expect(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))).toBeLessThanOrEqual(0);
    const moving = 'document.getAnimations().filter((each) => each instanceof CSSAnimation).length';
    expect(await page.evaluate(moving)).toBe(0);

    await page.getByRole('button', { name: /^Signed in with/ }).focus();
    await keyboard.press('Enter');
    await page.locator('[role=menuitem]:focus').waitFor(); // the menu has the keys
    await keyboard.press('ArrowUp');
    await page.getByRole('menuitem', { name: 'Sign out' }).and(page.locator(':focus')).waitFor();
    await keyboard.press('Enter');
    await page.waitForURL('**/app/sign-in*');
    await small.close();
  });
});

interface Within {
  querySelectorAll(selector: string): Iterable<{ textContent: string }>;
}

interface Schema {
  properties: Record<string, { enum?: string[]; const?: unknown; minimum?: number; maximum?: number }>;
}
