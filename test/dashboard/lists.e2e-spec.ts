import type { Page } from 'playwright-core';
import { eventually } from '../support/wait.ts';
import { describeInBrowser, launch } from './support/browser.ts';
import { Rest } from './support/rest.ts';
import { type BuiltService, startBuilt } from './support/service.ts';
import { HAS_FOCUS, Visitor } from './support/visitor.ts';

const scrollY = async (page: Page) => Number(await page.evaluate('scrollY'));

describeInBrowser('the lists of the dashboard', () => {
  let service: BuiltService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let rest: Rest;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startBuilt(), launch()]);
    rest = new Rest(service.baseUrl, service.api.key as string);
    visitor = await Visitor.open(browser, service.baseUrl, { reducedMotion: true });
    await visitor.signIn(service.api.key as string);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  describe('the list of tasks', () => {
    const COUNT = 250;
    const WAVE = 25;

    beforeAll(async () => {
      await Promise.all([1, 2, 3].map((nth) => rest.finished({ model: 'gpt-image-2', prompt: `Plate ${nth}` })));
      for (let from = 0; from < COUNT; from += WAVE) {
        await Promise.all(
          Array.from({ length: WAVE }, (_, at) =>
            rest.make({ model: 'sora-2', prompt: `Waits ${from + at + 1} #hang` }),
          ),
        );
      }
    });

    it('keeps address, filters and list in agreement over reload, Back and Forward', async () => {
      const { page } = visitor;
      await visitor.goto('/tasks');
      await page.getByLabel('Kind').selectOption('image');
      await page.waitForURL('**/tasks?kind=image');
      await page.getByText('Plate 1', { exact: true }).waitFor();
      await page.getByLabel('Model').selectOption('sora-2');
      await page.getByText('No task matches these filters').waitFor();
      // The filter says what is shown before the models are read.
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/graphql', async (route) => {
        if ((route.request().postData() ?? '').includes('query ModelNames')) await held;
        return route.continue();
      });
      await page.reload();
      await page.getByText('No task matches these filters').waitFor();
      expect(await page.getByLabel('Model').inputValue()).toBe('sora-2');
      release();
      await page.getByLabel('Model').locator('option', { hasText: 'seedance-2' }).waitFor({ state: 'attached' });
      expect(await page.getByLabel('Model').inputValue()).toBe('sora-2');
      await page.unroute('**/graphql');
      await page.goBack();
      await page.getByText('Plate 1', { exact: true }).waitFor();
      expect(await page.getByLabel('Model').inputValue()).toBe('');
      await page.goForward();
      await page.getByText('No task matches these filters').waitFor();
      await page.goBack();
      await page.goBack();
      await page.waitForURL('**/app/tasks');
      expect(await page.getByLabel('Kind').inputValue()).toBe('');
    });

    it('comes back from a task to the same place, with the focus on the same row', async () => {
      const { page } = visitor;
      await visitor.goto('/tasks?model=sora-2');
      await page.getByRole('row').nth(5).waitFor();
      await eventually('three pages are read', async () => {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        return Number(await page.locator('[role=row]').last().getAttribute('aria-rowindex')) > 110;
      });
      await page.locator('[role=row]').nth(12).getByRole('link').focus();
      // The list may still be drawn anew: then the twelfth row is another one than that with the focus.
      const text = String(await page.evaluate('document.activeElement.textContent'));
      const place = await scrollY(page);
      expect(place).toBeGreaterThan(1_000);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/app/tasks/task_*');
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await page.goBack();
      const same = page.getByRole('link', { name: text, exact: true });
      await eventually('the row has the focus', () => same.evaluate(HAS_FOCUS).catch(() => false));
      expect(Math.abs((await scrollY(page)) - place)).toBeLessThan(60);
    });

    it('only counts what others make while one reads further down, and moves no row', async () => {
      const { page } = visitor;
      await visitor.goto('/tasks');
      await page.getByRole('row').nth(5).waitFor();
      await page.evaluate('scrollTo(0, 600)');
      const places = () =>
        page.getByRole('row').evaluateAll((rows) =>
          rows.map((row) => {
            const { textContent, getBoundingClientRect } = row as unknown as {
              textContent: string;
              getBoundingClientRect(): { top: number };
            };
            return `${textContent.slice(0, 12)} ${Math.round(getBoundingClientRect.call(row).top)}`;
          }),
        );
      await eventually('the page is scrolled', async () => (await scrollY(page)) > 500);
      const before = await places();
      await rest.make({ model: 'sora-2', prompt: 'Made by another client #hang' });
      const pill = page.getByRole('button', { name: /^1 new task/ });
      await pill.waitFor({ state: 'attached' });
      expect(await places()).toEqual(before);
      await page.evaluate('scrollTo(0, 0)');
      await page.keyboard.press('.');
      await page.getByRole('row').first().getByText('Made by another client').waitFor();
    });

    it('peeks at a task, and goes on with j and k', async () => {
      const { page } = visitor;
      await visitor.goto('/tasks?kind=image');
      await page.getByRole('row').first().getByRole('link').focus();
      await page.keyboard.press(' ');
      const peek = page.getByRole('complementary', { name: 'Peek' });
      const first = await peek.locator('bdi').textContent();
      await page.waitForURL('**peek=task_*');
      await page.keyboard.press('j');
      await eventually('the next task is shown', async () => (await peek.locator('bdi').textContent()) !== first);
      await page.reload();
      await peek.waitFor();
      await page.keyboard.press('Escape');
      await peek.waitFor({ state: 'detached' });
      expect(page.url()).not.toContain('peek');
    });

    it('cancels by filter what was there when it asked, says how many, and stops on demand', async () => {
      const { page } = visitor;
      await visitor.goto('/tasks?status=queued');
      await page.getByRole('row').first().waitFor();
      const queued = async () => (await rest.call<{ queued: number }>('/v1/tasks/counts?model=sora-2')).queued;
      const before = await queued();
      expect(before).toBeGreaterThan(150);
      const open = () => page.getByRole('button', { name: 'Cancel all queued' }).click();

      // Stopped after the first hundred.
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/graphql', async (route) => {
        if (!(route.request().postData() ?? '').includes('CancelTasks')) return route.continue();
        const response = await route.fetch();
        await held;
        return route.fulfill({ response });
      });
      await open();
      const dialog = page.getByRole('dialog', { name: `Cancel ${before} tasks?` });
      await dialog.getByRole('textbox').fill(String(before));
      await dialog.getByRole('button', { name: `Cancel ${before} tasks` }).click();
      await page.getByRole('button', { name: 'Stop' }).click();
      release();
      await page.getByText(`100 tasks cancelled, 0 had already ended, ${before - 100} left alone.`).waitFor();
      await page.unroute('**/graphql');
      await page.getByRole('dialog').waitFor({ state: 'detached' }); // by itself: the report says the rest
      await eventually('a hundred are gone', async () => (await queued()) <= before - 100);

      // The rest, but for what is made after the dialog opened.
      await visitor.goto('/tasks?status=queued');
      await page.getByRole('row').first().waitFor();
      const rest2 = await queued();
      await open();
      await page
        .getByRole('dialog', { name: `Cancel ${rest2} tasks?` })
        .getByRole('textbox')
        .fill(String(rest2));
      const later = await rest.make({ model: 'sora-2', prompt: 'Made after the question #hang' });
      await page.getByRole('button', { name: `Cancel ${rest2} tasks` }).click();
      await page.getByText(`${rest2} tasks cancelled, 0 had already ended.`).waitFor();
      expect((await rest.call<{ status: string }>(`/v1/tasks/${later}`)).status).toBe('queued');
      expect(visitor.problems).toEqual([]);
    });
  });
});
