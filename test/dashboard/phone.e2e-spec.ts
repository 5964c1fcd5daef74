import { describeInBrowser, launch } from './support/browser.ts';
import { seed, type Seeded } from './support/seed.ts';
import { type BuiltService, startBuilt } from './support/service.ts';
import { HAS_FOCUS, Visitor } from './support/visitor.ts';

const WIDTH = 360;

describeInBrowser('the dashboard on a phone', () => {
  let service: BuiltService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let seeded: Seeded;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startBuilt(), launch()]);
    seeded = await seed(service.baseUrl, service.api.key as string);
    visitor = await Visitor.open(browser, service.baseUrl, { width: WIDTH, height: 740, reducedMotion: true });
    await visitor.signIn(service.api.key as string);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await browser.close();
    await service.close();
    expect(problems).toEqual([]);
  });

  it('shows each row of a table as a card, whose facts carry the names of their columns', async () => {
    const { page } = visitor;
    const tables: [path: string, table: string, labels: string[]][] = [
      ['/keys', 'API keys', ['Scopes', 'Used', 'Expires', 'Running, queued at most']],
      ['/webhooks', 'Webhook endpoints', ['Events', 'State', 'Accepted in 24 h', 'Last attempt']],
      [`/tasks/${seeded.failed}?tab=deliveries`, 'Deliveries', ['Endpoint', 'Try', 'Answer', 'When']],
      ['/queue', 'Processes', ['Role', 'State', 'Busy', 'Version', 'Seen', 'Started']],
      ['/providers', 'Providers', ['Models', 'Credential', 'In flight', 'Circuit']],
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
      const seen = (await card.evaluate(FACTS)) as { label: string; left: number; right: number }[];
      expect({ path, labels: seen.map(({ label }) => label).filter(Boolean) }).toEqual({ path, labels });
      for (const { left, right } of seen) {
        expect(left).toBeGreaterThanOrEqual(0);
        expect(right).toBeLessThanOrEqual(WIDTH);
      }
    }
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

  it('opens a form as a sheet as wide as the screen', async () => {
    const { page } = visitor;
    await visitor.goto('/keys/new');
    const box = await page.getByRole('dialog', { name: 'New API key' }).boundingBox();
    expect([box?.x, box?.width]).toEqual([0, WIDTH]);
  });
});

/** The drawn label of each cell of a row, and its place. */
const FACTS = (row: unknown): unknown =>
  [...(row as { cells: Iterable<Element> }).cells].map((cell) => {
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
