import type { Page } from 'playwright-core';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Rest } from '../../support/browser/rest.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';

const openFilter = (page: Page) => page.getByRole('button', { name: /^Filter/ }).click();
const scrollY = async (page: Page) => Number(await page.evaluate('scrollY'));

describeInBrowser('the lists of the dashboard', () => {
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

  it('counts after Back what others made meanwhile', async () => {
    const { page } = visitor;
    await rest.finished({ model: 'gpt-image-2', prompt: 'Made first' });
    await visitor.goto('/tasks?model=gpt-image-2');
    await page.getByRole('row').first().getByRole('link').click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    // It has ended before Back, so the feed, which names unfinished tasks only, does not tell.
    await rest.finished({ model: 'gpt-image-2', prompt: 'Made while a task was read' });
    await page.goBack();
    await page.getByRole('button', { name: /^1 new task/ }).click();
    await page.getByRole('row').first().getByText('Made while a task was read').waitFor();
  });

  it('reads and sums times in the time zone of the browser, or in UTC if one chooses so', async () => {
    const traveller = await Visitor.open(browser, service.baseUrl, { timezone: 'Asia/Kolkata' });
    const { page, context } = traveller;
    await traveller.enter(service.api.key as string);
    const toOf = async (): Promise<string | null> => {
      await traveller.goto('/tasks');
      await openFilter(page);
      await page.getByLabel('Time').selectOption('exact');
      await page.getByLabel('To', { exact: true }).fill('2020-01-02T03:04');
      await page.getByText('No task matches these filters').waitFor();
      return new URL(page.url()).searchParams.get('to');
    };
    const zoneOfUsage = async (): Promise<string> => {
      const asked = page.waitForRequest((request) => request.postData()?.includes('query Usage(') ?? false);
      await traveller.goto('/usage');
      return ((await asked).postDataJSON() as { variables: { timezone: string } }).variables.timezone;
    };
    const utc = Date.UTC(2020, 0, 2, 3, 4) / 1_000;
    const indian = utc - 5.5 * 3_600;
    expect([await toOf(), await zoneOfUsage()]).toEqual([
      `${indian}`,
      expect.stringMatching(/^Asia\/(Kolkata|Calcutta)$/),
    ]);
    await traveller.goto('/settings');
    await page.getByRole('radiogroup', { name: 'Times' }).getByText('UTC').click();
    expect([await toOf(), await zoneOfUsage()]).toEqual([`${utc}`, 'UTC']);
    await context.close();
  });

  describe('the list of tasks', () => {
    const COUNT = 250;
    const WAVE = 25;

    beforeAll(async () => {
      await Promise.all([1, 2, 3].map((nth) => rest.finished({ model: 'gpt-image-2', prompt: `Plate ${nth}` })));
      await rest.finished({ model: 'gpt-image-2', prompt: 'Really failed #fail:provider_timeout' });
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
      await openFilter(page);
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

    it.each<[filter: string, choose: () => Promise<unknown>, address: RegExp, shown: () => Promise<string>]>([
      [
        'Status',
        () =>
          visitor.page
            .getByRole('radiogroup', { name: 'Status' })
            .getByText(/^Queued/)
            .click(),
        /^\?status=queued$/,
        () => visitor.page.getByRole('radiogroup', { name: 'Status' }).locator(':checked').inputValue(),
      ],
      ...(
        [
          ['Kind', 'video', /^\?kind=video$/],
          ['Model', 'sora-2', /^\?model=sora-2$/],
          ['Error', 'provider_timeout', /^\?error=provider_timeout$/],
          ['Time', 'hour', /^\?from=\d{10}$/],
          ['Time', 'week', /^\?from=\d{10}$/],
        ] as const
      ).map(([name, value, address]): [string, () => Promise<unknown>, RegExp, () => Promise<string>] => [
        `${name} ${value}`,
        () => visitor.page.getByLabel(name, { exact: true }).selectOption(value),
        address,
        () => visitor.page.getByLabel(name, { exact: true }).inputValue(),
      ]),
    ])(
      'has the filter %s in its address, which a reload, Back and Forward agree with',
      async (_name, choose, address, shown) => {
        const { page } = visitor;
        const searchIs = (pattern: RegExp) => page.waitForURL((url) => pattern.test(url.search));
        await visitor.goto('/tasks');
        await page.getByRole('row').first().waitFor();
        await openFilter(page);
        const without = await shown();
        await choose();
        await searchIs(address);
        const chosen = await shown();
        expect(chosen).not.toBe(without);
        await page.reload();
        await eventually('the choice after the reload', async () => (await shown()) === chosen);
        await page.goBack();
        await searchIs(/^$/);
        await eventually('no choice after Back', async () => (await shown()) === without);
        await page.goForward();
        await searchIs(address);
        await eventually('the choice after Forward', async () => (await shown()) === chosen);
      },
    );

    it('finds tasks between two times, and by words while one types', async () => {
      const { page } = visitor;
      const none = page.getByText('No task matches these filters');
      await visitor.goto('/tasks');
      await openFilter(page);
      await page.getByLabel('Time').selectOption('exact');
      await page.getByLabel('To', { exact: true }).fill('2020-01-02T03:04');
      await none.waitFor();
      const unix = Date.UTC(2020, 0, 2, 3, 4) / 1_000;
      expect(new URL(page.url()).search).toBe(`?to=${unix}`);
      await page.reload();
      await none.waitFor();
      expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2020-01-02T03:04');
      await openFilter(page);
      await page.getByLabel('To', { exact: true }).fill('2060-01-02T03:04');
      await page.getByLabel('From').fill('2020-01-02T03:04');
      await page.getByLabel('Words in the prompt').fill('plate 2');
      await eventually('one task', async () => (await page.getByRole('row').count()) === 1);
      await page.getByText('Plate 2', { exact: true }).waitFor();
      const to = Date.UTC(2060, 0, 2, 3, 4) / 1_000;
      await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'plate 2');
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        from: `${unix}`,
        to: `${to}`,
        q: 'plate 2',
      });
    });

    it('opens an address with a time that no calendar has, and takes the rest of it', async () => {
      const { page } = visitor;
      await visitor.goto('/tasks?from=1e99&to=-5&kind=image');
      await page.getByText('Plate 1', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Filter, 1 active' }).count()).toBe(1);
    });

    it('has its filters in one line on a wide screen', async () => {
      const { page } = visitor;
      await page.setViewportSize({ width: 1440, height: 900 });
      for (const [path, words] of [
        ['/tasks', /^Queued \d/],
        ['/gallery', 'Jump to day'],
      ] as const) {
        await visitor.goto(path);
        const filters = page.getByRole('search', { name: 'Filters' });
        await filters.getByText(words).first().waitFor();
        expect((await filters.boundingBox())?.height).toBeLessThan(60);
      }
      await page.setViewportSize({ width: 1280, height: 860 });
    });

    it('says the same number of unfinished tasks in the menu and above the list', async () => {
      const { page } = visitor;
      const numbers = () =>
        page.evaluate(`(() => {
          const of = (text) => Number(/\\d+/.exec((text ?? '').replaceAll(',', ''))?.[0] ?? 0);
          const states = [...document.querySelectorAll('[role=radiogroup][aria-label=Status] label')].map((each) => each.textContent);
          const menu = document.querySelector('nav[aria-label=Main] a[href$="/tasks"]')?.textContent;
          return { menu: of(menu), list: of(states.find((each) => each.startsWith('Queued'))) + of(states.find((each) => each.startsWith('Running'))) };
        })()`) as Promise<{ menu: number; list: number }>;
      await visitor.goto('/tasks');
      await eventually('all of them are counted', async () => (await numbers()).menu > 200);
      let reads = 0; // each read has another number, so two sources would differ
      await page.route('**/graphql', (route) => {
        if (!route.request().postData()?.includes('query TaskCounts')) return route.fallback();
        const taskCounts = { queued: ++reads, running: 0, succeeded: 0, failed: 0, cancelled: 0, capped: false };
        return route.fulfill({ json: { data: { taskCounts } } });
      });
      await page.reload();
      const { menu, list } = await eventually('the numbers of a later read', async () => {
        const now = await numbers();
        return now.menu > 1 && now;
      });
      expect(menu).toBe(list);
      await page.unroute('**/graphql');
    });

    it('counts and lists what was cancelled apart from what failed', async () => {
      const { page } = visitor;
      const given = await rest.make({ model: 'gpt-image-2', prompt: 'Given up #hang' });
      await rest.call(`/v1/tasks/${given}/cancel`, {});
      await visitor.goto('/tasks?status=failed');
      await page.getByText('Really failed').first().waitFor();
      expect(await page.getByText('Given up').count()).toBe(0);
      const states = page.getByRole('radiogroup', { name: 'Status' });
      await states.getByText('Failed 1', { exact: true }).waitFor();
      await states.getByText('Cancelled 1', { exact: true }).click();
      await page.waitForURL('**/tasks?status=cancelled');
      await page.getByText('Given up').first().waitFor();
      expect(await page.getByRole('row').count()).toBe(1);
    });

    it('leads from any screen to a recent task, and to those with words in the prompt', async () => {
      const { page } = visitor;
      const { keyboard } = page;
      await rest.make({ model: 'sora-2', prompt: 'The newest plate #hang' });
      await visitor.goto('/settings');
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
      await keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Search or jump' });
      const recent = palette.getByRole('group', { name: 'Recent tasks' }).getByRole('option');
      await recent.first().getByText('The newest plate').waitFor();
      await recent.first().getByText('Queued').waitFor();
      expect(await recent.count()).toBe(8);
      await keyboard.type('newest pl');
      await eventually('one is left', async () => (await recent.count()) === 1);
      await keyboard.press('Enter');
      await page.waitForURL('**/app/tasks/task_*');
      await page.getByText('The newest plate').first().waitFor();

      await keyboard.press('Control+k');
      await keyboard.type('plate 3');
      await palette.getByRole('option', { name: 'Tasks with “plate 3” in the prompt' }).click();
      await page.waitForURL('**/app/tasks?q=plate+3');
      await page.getByText('Plate 3', { exact: true }).waitFor();
      expect(await page.getByRole('row').count()).toBe(1);

      const theme = () => page.evaluate('document.documentElement.dataset.theme');
      const before = await theme();
      await keyboard.press('Control+k');
      await keyboard.type('theme');
      await palette
        .getByRole('group', { name: 'Actions' })
        .getByRole('option', { name: /^Theme: / })
        .waitFor();
      await keyboard.press('Enter');
      await eventually('the other theme', async () => (await theme()) !== before);
      expect(await palette.count()).toBe(0);
    });

    it('shows what is unfinished, in one choice that the address keeps', async () => {
      const { page } = visitor;
      await visitor.goto('/tasks');
      await page.getByRole('radio', { name: 'Unfinished' }).check();
      await page.waitForURL((url) => url.searchParams.get('status') === 'queued,running');
      await page.getByText('The newest plate').first().waitFor();
      await page.getByRole('button', { name: 'Cancel all unfinished' }).waitFor();
      await page.reload();
      await page.getByText('The newest plate').first().waitFor();
      expect(await page.getByRole('radio', { name: 'Unfinished' }).isChecked()).toBe(true);
      expect(
        await page
          .getByRole('row')
          .getByText(/Succeeded|Done/)
          .count(),
      ).toBe(0);
      await visitor.goto('/tasks?status=failed,nonsense');
      await eventually('the known one', () => page.getByRole('radio', { name: /^Failed/ }).isChecked());
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
      await page.getByText(`100 tasks cancelled, ${before - 100} left alone.`).waitFor();
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
      await page.getByText(`${rest2} tasks cancelled.`).waitFor();
      expect((await rest.call<{ status: string }>(`/v1/tasks/${later}`)).status).toBe('queued');
    });

    it('cancels what is queued and lets what runs finish, if one chooses so', async () => {
      const { page } = visitor;
      const counts = () => rest.call<{ queued: number; running: number }>('/v1/tasks/counts');
      const waiting = await Promise.all(
        [1, 2, 3].map((nth) => rest.make({ model: 'sora-2', prompt: `Line ${nth} #hang` })),
      );
      await eventually('some run and some wait', async () => {
        const { queued, running } = await counts();
        return running > 0 && queued >= waiting.length;
      });
      const before = await counts();
      await visitor.goto('/tasks');
      await page.getByRole('row').first().waitFor();
      await page.getByRole('button', { name: 'Cancel all unfinished' }).click();
      const dialog = page.getByRole('dialog', { name: `Cancel ${before.queued + before.running} tasks?` });
      await dialog.getByText(`Queued, let ${before.running} running finish`).click();
      const queuedOnly = page.getByRole('dialog', { name: `Cancel ${before.queued} tasks?` });
      await queuedOnly.getByRole('button', { name: `Cancel ${before.queued} tasks` }).click();
      await page.getByText(`${before.queued} tasks cancelled.`).waitFor();
      expect(await counts()).toMatchObject({ queued: 0, running: before.running });

      // What was cancelled leaves the list of what is unfinished, and with the last of them its button.
      await visitor.goto('/tasks?status=queued,running');
      await page.getByRole('row').first().waitFor();
      await page.getByRole('button', { name: 'Cancel all unfinished' }).click();
      const all = page.getByRole('dialog', { name: `Cancel ${before.running} task` });
      await all.getByRole('button', { name: /^Cancel \d+ tasks?$/ }).click();
      await page.getByText('No task matches these filters').waitFor();
      expect(await page.getByRole('button', { name: 'Cancel all unfinished' }).count()).toBe(0);
      expect(visitor.problems).toEqual([]);
    });
  });
});
