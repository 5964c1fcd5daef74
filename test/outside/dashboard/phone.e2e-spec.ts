import type { Locator } from 'playwright-core';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { seed, type Seeded } from '../../support/browser/seed.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';
import { eventually } from '../../support/wait.ts';

const WIDTH = 360;

describeInBrowser('the dashboard on a phone', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let seeded: Seeded;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    seeded = await seed(service.baseUrl, service.api.key as string);
    visitor = await Visitor.open(browser, service.baseUrl, { width: WIDTH, height: 740 });
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await browser.close();
    expect(problems).toEqual([]);
  });

  it('shows each row of a table as a card, whose facts carry the names of their columns', async () => {
    const { page } = visitor;
    const tables: [path: string, table: string, labels: string[]][] = [
      ['/keys', 'API keys', ['Scopes', 'Used', 'Expires', 'Running · queued at most']],
      ['/webhooks', 'Webhook endpoints', ['Events', 'State', 'Last 24 h', 'Accepted', 'Waiting', 'Last answer']],
      [`/tasks/${seeded.failed}?tab=deliveries`, 'Deliveries', ['Endpoint', 'Try', 'Answer', 'When']],
      ['/queue', 'Processes', ['Role', 'State', 'Busy', 'Version', 'Seen', 'Started']],
      ['/providers', 'Providers', ['Models', 'Credential', 'In flight', 'Circuit', 'Pause']],
      ['/usage?by=model&view=table', 'Usage by model', ['succeeded', 'failed', 'cancelled', 'images', 'film', 'cost']],
      ['/usage?by=error&view=table', 'Failures by error', ['failed', 'share']],
    ];
    for (const [path, name, labels] of tables) {
      await visitor.goto(path);
      const table = page.getByRole('region', { name, exact: true });
      const card = table
        .getByRole('row')
        .filter({ has: page.getByRole('cell') })
        .first();
      await card.waitFor();
      // A screen reader still finds a table.
      expect(await table.getByRole('columnheader', { name: labels[0] as string, exact: true }).count()).toBe(1);
      expect(await table.getByRole('table').count()).toBe(1);
      const seen = (await card.getByRole('cell').evaluateAll(CELLS)) as {
        label: string;
        left: number;
        right: number;
      }[];
      expect({ path, labels: seen.map(({ label }) => label).filter(Boolean) }).toEqual({ path, labels });
      for (const { left, right } of seen) {
        expect(left).toBeGreaterThanOrEqual(0);
        expect(right).toBeLessThanOrEqual(WIDTH);
      }
    }
  });

  it('has what was asked for on the screen at once, above the button', async () => {
    const { page } = visitor;
    await visitor.goto('/create');
    await page.locator('textarea[name=prompt]').fill('Seen on a phone #delay:2');
    await page.getByRole('button', { name: /^Generate/ }).click();
    const place = page.getByRole('article').first().locator('[style*="--ratio"]').first();
    await eventually('the place of the picture is in sight', async () => {
      const box = await place.boundingBox();
      return box !== null && box.y >= 40 && box.y < 400;
    });
    await page.getByRole('article').first().getByText('Succeeded').waitFor();
  });

  it.each([
    ['/tasks', '[role=row]'],
    ['/gallery', '[data-file]'],
  ])('begins the list of %s in the upper half of the screen', async (path, first) => {
    await visitor.goto(path);
    await visitor.page.locator(first).first().waitFor();
    expect((await visitor.page.locator(first).first().boundingBox())?.y).toBeLessThan(740 / 2);
  });

  it('shows the code of a request in a sheet over the form, and gives the focus back', async () => {
    const { page } = visitor;
    await visitor.goto('/create');
    await page.locator('textarea[name=prompt]').fill('A phone on a beach');
    const open = page.getByRole('button', { name: 'Code', exact: true });
    await open.click();
    const sheet = page.getByRole('dialog', { name: 'Code' });
    await sheet
      .getByRole('region', { name: /^The request in/ })
      .getByText('A phone on a beach')
      .waitFor();
    const box = await sheet.boundingBox();
    expect([box?.x, box?.width]).toEqual([0, WIDTH]);
    expect(await page.getByRole('region', { name: /^The request in/ }).count()).toBe(1);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    expect(await open.evaluate(HAS_FOCUS)).toBe(true);
  });

  it('keeps the tools of a picture together, and the menu of a row beside its name', async () => {
    const { page } = visitor;
    const top = async (each: Locator) => Math.round((await each.boundingBox())?.y ?? -1);
    await visitor.goto(`/tasks/${seeded.picture}`);
    const view = page.getByRole('toolbar', { name: 'View' });
    const [back, place, on] = [
      view.getByRole('button', { name: 'Previous output' }),
      view.getByText('1 / 3'),
      view.getByRole('button', { name: 'Next output' }),
    ];
    await on.waitFor();
    // A list that is drawn again has no place for a moment.
    const boxOf = (each: Locator) => eventually('its place', () => each.boundingBox());
    const middle = async (each: Locator) => {
      const { y, height } = await boxOf(each);
      return y + height / 2;
    };
    expect(await top(back)).toBe(await top(on));
    expect(Math.abs((await middle(place)) - (await middle(on)))).toBeLessThan(3);
    const rows = async (bar: Locator) =>
      new Set(
        await Promise.all(
          (await bar.getByRole('button').all()).map(async (each) => Math.round((await middle(each)) / 8)),
        ),
      );
    await visitor.page.getByRole('button', { name: /^Zoom: \d/ }).waitFor(); // it comes with the picture
    expect((await rows(view)).size).toBe(1);
    // All that one does with a task is in one row.
    const actions = await Promise.all(
      ['Run again', 'Edit as new', 'Vary', 'More actions'].map((name) => middle(page.getByRole('button', { name }))),
    );
    expect(Math.max(...actions) - Math.min(...actions)).toBeLessThan(3);
    await visitor.goto(`/tasks/${seeded.film}`);
    const film = page.getByRole('toolbar', { name: 'Film' });
    await film.getByRole('button', { name: 'Full screen' }).waitFor();
    expect((await rows(film)).size).toBe(1);

    await visitor.goto('/keys');
    // Names of other keys may take several lines.
    const row = page.getByRole('row').filter({ hasText: 'phone.e2e-spec.ts' });
    const [name, menu] = [row.getByRole('link'), row.getByRole('button', { name: /^Actions of/ })];
    await menu.waitFor();
    expect(Math.abs((await middle(menu)) - (await middle(name)))).toBeLessThan(16);
    expect((await boxOf(menu)).x).toBeGreaterThan(WIDTH / 2);
  });

  it('compares inputs as cards, whose values carry the numbers of their outputs', async () => {
    const { page } = visitor;
    await visitor.goto(`/compare?tasks=${seeded.picture},${seeded.film}`);
    const inputs = page.getByRole('region', { name: 'Inputs' });
    const card = inputs.getByRole('row', { name: /^prompt differs/ });
    await card.waitFor();
    expect(
      await inputs.evaluate((region) => {
        const { scrollWidth, clientWidth } = region as unknown as Record<string, number>;
        return Number(scrollWidth) - Number(clientWidth);
      }),
    ).toBe(0);
    const seen = (await card.getByRole('cell').evaluateAll(CELLS)) as { label: string; left: number; right: number }[];
    expect(seen.map(({ label }) => label)).toEqual(['1', '2']);
    for (const { left, right } of seen) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThanOrEqual(WIDTH);
    }
    // Drawn as cards it is still a table.
    expect(await inputs.getByRole('table').count()).toBe(1);
    expect(await inputs.getByRole('columnheader', { name: '2', exact: true }).count()).toBe(1);
  });

  it('opens a form as a sheet as wide as the screen', async () => {
    const { page } = visitor;
    await visitor.goto('/keys/new');
    const box = await page.getByRole('dialog', { name: 'New API key' }).boundingBox();
    expect([box?.x, box?.width]).toEqual([0, WIDTH]);
  });
});

/** The drawn label of each cell, and its place. */
const CELLS = (cells: unknown): unknown =>
  [...(cells as Iterable<Element>)].map((cell) => {
    const { getComputedStyle: style } = globalThis as unknown as {
      getComputedStyle(each: Element, part: string): { content: string };
    };
    const drawn = /^"(?<label>[^"]*)"/.exec(style(cell, '::before').content)?.groups?.['label'] ?? '';
    const { left, right } = cell.getBoundingClientRect();
    return { label: drawn, left, right };
  });

interface Element {
  getBoundingClientRect(): { left: number; right: number };
}
