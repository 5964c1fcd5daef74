import type { Browser, Page } from 'playwright-core';
import { cloneDatabase } from '../../support/database.ts';
import { testEnv } from '../../support/test-env.ts';
import { spawnService } from '../../support/process.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { Rest } from '../../support/browser/rest.ts';
import { Visitor } from '../../support/browser/visitor.ts';

/** What a link within the page does, without the page that has the link. */
const goInside = (page: Page, path: string) =>
  page.evaluate(`history.pushState(null, '', '/app${path}'); dispatchEvent(new PopStateEvent('popstate'))`);

/** Whether a page has loaded what all screens need, the dialog of Tasks last. */
const IS_LOADED_AHEAD = "performance.getEntriesByType('resource').some(({ name }) => name.includes('/bulk-cancel-'))";

/** The longest pause between two attempts is 30 s, and up to a quarter more. */
const RECONNECTED_MS = 60_000;

describeInBrowser('the dashboard while the service restarts', () => {
  it('is right again without a reload, and neither loses nor doubles a row', async () => {
    const database = await cloneDatabase();
    const { env } = await testEnv(database.url, { TASK_LEASE_S: '5', TASK_HEARTBEAT_S: '1' });
    const [first, browser] = await Promise.all([spawnService(env), launch()]);
    let service = first;
    let isLoadedAhead = true;
    try {
      const baseUrl = env['PUBLIC_URL'] as string;
      const visitor = await Visitor.open(browser, baseUrl);
      // Not loaded ahead, as on a slow line.
      await visitor.page.route('**/assets/usage-screen-*.js', (route) =>
        isLoadedAhead ? route.abort() : route.continue(),
      );
      await visitor.enter(env['BOOTSTRAP_API_KEY'] as string);
      // What Tasks loads later is known once Tasks itself is loaded.
      await eventually('Tasks is loaded ahead', async () =>
        visitor.requests.some((each) => each.includes('/assets/bulk-cancel-')),
      );
      await visitor.page.locator('textarea[name=prompt]').fill('Through a restart #delay:4');
      await visitor.page.keyboard.press('Control+Enter');
      const card = visitor.page.getByRole('article').first();
      await card.getByText(/^Running/).waitFor();

      await service.kill('SIGKILL');
      await visitor.page.getByText(/^(Reconnecting|Connecting)/).waitFor();
      // A screen that was loaded ahead opens.
      await visitor.page.getByRole('link', { name: 'Tasks' }).first().click();
      const tasks = visitor.page.getByRole('heading', { name: 'Tasks', level: 1 });
      await tasks.waitFor();
      // A screen that was not loaded yet: what is shown stays, and nothing is called updated.
      isLoadedAhead = false;
      const usage = visitor.page.getByRole('link', { name: 'Usage' }).first();
      await usage.click();
      await visitor.page.getByText('Darkroom does not answer').waitFor();
      expect(await visitor.page.getByText('updated', { exact: false }).count()).toBe(0);
      await tasks.waitFor();
      service = await spawnService(env);
      await visitor.page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor({ timeout: RECONNECTED_MS });
      expect(await visitor.page.getByText('Darkroom does not answer').count()).toBe(0);
      await visitor.page.getByRole('link', { name: 'Create' }).first().click();
      await visitor.page.getByText('Live', { exact: true }).waitFor({ timeout: RECONNECTED_MS });
      await card.getByText(/^(Succeeded|Failed)/).waitFor({ timeout: 90_000 });

      await visitor.page.getByRole('link', { name: 'Tasks' }).first().click();
      await visitor.page.getByRole('row').first().waitFor();
      expect(await visitor.page.getByRole('row').filter({ hasText: 'Through a restart' }).count()).toBe(1);
      await visitor.close();
    } finally {
      await browser.close();
      await service.kill('SIGKILL');
      await database.drop();
    }
  });

  it('answers what was asked while it was away, and is live again on a screen with a feed of its own', async () => {
    const database = await cloneDatabase();
    const { env } = await testEnv(database.url);
    const [first, browser] = await Promise.all([spawnService(env), launch()]);
    let service = first;
    try {
      const visitor = await Visitor.open(browser, env['PUBLIC_URL'] as string);
      const { page } = visitor;
      await visitor.enter(env['BOOTSTRAP_API_KEY'] as string);
      await page.locator('textarea[name=prompt]').fill('A lighthouse');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('article').first().getByText('Succeeded').waitFor();
      const rest = new Rest(env['PUBLIC_URL'] as string, env['BOOTSTRAP_API_KEY'] as string);
      const batch = await rest.call<{ id: string }>('/v1/batches', {
        metadata: { name: 'Ten pears' },
        requests: [{ body: { model: 'gpt-image-2', prompt: 'A pear' } }],
      });
      const [made, earlier] = (await rest.call<{ data: { task_id: string }[] }>('/v1/tasks?limit=2')).data.map(
        ({ task_id: id }) => id,
      );
      await visitor.goto('/tasks');
      await page.getByRole('row').first().waitFor();
      const open = async (path: string) => {
        const other = await visitor.context.newPage();
        await other.goto(`${env['PUBLIC_URL']}/app${path}`);
        await other.getByText('Live', { exact: true }).waitFor();
        return other;
      };
      const others = [await open('/settings'), await open('/settings'), await open('/settings')] as const;
      const [queue, usage, batches, gallery] = [
        await open('/queue'),
        await open('/usage'),
        await open('/batches'),
        await open('/gallery'),
      ];
      await usage.getByRole('definition').first().waitFor();
      await batches.getByRole('link', { name: 'Ten pears' }).waitFor();
      await gallery.locator('[data-file] img').first().waitFor();

      for (const other of others)
        await eventually('all is loaded ahead', () => other.evaluate<boolean>(IS_LOADED_AHEAD));
      await service.kill('SIGKILL');
      await page.getByText(/^(Reconnecting|Connecting)/).waitFor();
      await page.getByRole('radio', { name: /^Failed/ }).check();
      await page.getByText('The service does not answer').waitFor();
      expect(await page.getByRole('row').count()).toBe(0);
      // Screens that are opened while the service is away. These pages know none of the tasks.
      const [task, compare, items] = others;
      await goInside(task, `/tasks/${made}`);
      await goInside(compare, `/compare?tasks=${made},${earlier}`);
      await goInside(items, `/batches/${batch.id}`);
      for (const other of others) await other.getByText('The service does not answer').first().waitFor();
      // The answers to another question are shown nowhere.
      await usage.getByText('7 d').click();
      await batches.getByText('Cancelled', { exact: true }).click();
      await gallery.getByRole('button', { name: 'Kept' }).click();
      for (const other of [usage, batches, gallery]) await other.getByText('The service does not answer').waitFor();
      expect(await usage.getByRole('definition').count()).toBe(0);
      expect(await batches.getByRole('link', { name: 'Ten pears' }).count()).toBe(0);
      expect(await gallery.locator('[data-file]').count()).toBe(0);

      service = await spawnService(env);
      await page.getByText('No task matches these filters').waitFor({ timeout: RECONNECTED_MS });
      await queue.getByText('Live', { exact: true }).waitFor({ timeout: RECONNECTED_MS });
      await usage.getByRole('definition').first().waitFor({ timeout: RECONNECTED_MS });
      await task.getByRole('heading', { name: 'Timeline' }).waitFor({ timeout: RECONNECTED_MS });
      await compare.getByRole('region', { name: 'Output 2' }).locator('img').waitFor({ timeout: RECONNECTED_MS });
      await items.locator('[data-tile] img').first().waitFor({ timeout: RECONNECTED_MS });
      await batches.getByText('No batch is in this state').waitFor({ timeout: RECONNECTED_MS });
      await gallery.getByText('Nothing matches these filters').waitFor({ timeout: RECONNECTED_MS });
      for (const other of [usage, batches, gallery, ...others])
        expect(await other.getByText('The service does not answer').count()).toBe(0);
    } finally {
      await browser.close();
      await service.kill('SIGKILL');
      await database.drop();
    }
  });

  it('loads the new build when it was updated under an open tab, and keeps the draft', async () => {
    const [service, browser] = await Promise.all([joinService(), launch()]);
    try {
      const { page, context } = await visit(browser, service);
      await page.locator('textarea[name=prompt]').fill('A draft of a lighthouse');
      await page.evaluate('globalThis.isOldBuild = true');
      // The build before is gone until the page loads the new one: its parts had other names.
      let isReloaded = false;
      page.once('load', () => (isReloaded = true));
      // A page that asks which build is served now gets another first script.
      await page.route('**/app/', (route) =>
        route.request().isNavigationRequest()
          ? route.continue()
          : route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/app/assets/index-new.js">' }),
      );
      await page.route('**/assets/usage-screen-*.js', (route) =>
        isReloaded ? route.continue() : route.fulfill({ status: 404, body: '' }),
      );
      await page.getByRole('link', { name: 'Usage' }).first().click();
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      expect(await page.evaluate('globalThis.isOldBuild')).toBeUndefined();
      const news = page.getByRole('status', { name: 'Reports' }).getByText('Darkroom was updated', { exact: false });
      await news.waitFor();
      expect(await news.count()).toBe(1);
      await page.getByRole('link', { name: 'Create' }).first().click();
      expect(await page.locator('textarea[name=prompt]').inputValue()).toBe('A draft of a lighthouse');
      await page.reload();
      await page.locator('textarea[name=prompt]').waitFor();
      expect(await news.count()).toBe(0);

      // A part of a screen reads nothing anew by itself: one may be in the middle of something.
      const palette = '**/assets/palette-*.js';
      await page.route(palette, (route) => route.fulfill({ status: 404, body: '' }));
      await page.keyboard.press('Control+k');
      await page.getByRole('heading', { name: 'Darkroom was updated' }).waitFor();
      await page.unroute(palette);
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.locator('textarea[name=prompt]').waitFor();
      expect(await page.locator('textarea[name=prompt]').inputValue()).toBe('A draft of a lighthouse');
      await news.waitFor();
      await context.close();
    } finally {
      await browser.close();
    }
  });
});

async function visit(browser: Browser, { api, baseUrl }: SharedService): Promise<Visitor> {
  const visitor = await Visitor.open(browser, baseUrl);
  await visitor.enter(api.key as string);
  return visitor;
}
