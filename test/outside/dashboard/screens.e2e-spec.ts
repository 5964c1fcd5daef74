import { mkdirSync } from 'node:fs';
import { axeFaults, THEMES } from '../../support/browser/axe.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { layoutFaults } from '../../support/browser/layout.ts';
import { seed, type Seeded } from '../../support/browser/seed.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';

/** With DARKROOM_SHOTS=1 every screen is drawn there, for eyes. No check reads the pictures, and drawing them takes half of the time. */
const DRAWS = process.env.DARKROOM_SHOTS === '1';
const SHOTS = new URL('../../../coverage/shots/', import.meta.url).pathname;
const WIDTHS = [360, 768, 1280, 1920];
/** Only the main screens are drawn at every width. */
const DRAWN_WIDTHS = [360, 1280];
const MAIN = ['create', 'task', 'tasks', 'gallery', 'compare', 'keys'];
const HEIGHT = 860;

const SCREENS: [name: string, path: (of: Seeded) => string, heading: string][] = [
  ['create', () => '/create', 'Create'],
  ['tasks', () => '/tasks', 'Tasks'],
  ['tasks-filtered', () => '/tasks?status=failed&error=provider_timeout&meta.order=1042', 'Tasks'],
  ['tasks-none', () => '/tasks?status=running', 'Tasks'],
  ['tasks-peek', ({ picture }) => `/tasks?peek=${picture}`, 'Tasks'],
  ['task', ({ picture }) => `/tasks/${picture}`, 'A fox asleep in snow'],
  ['task-compared', ({ picture }) => `/tasks/${picture}?compare=file_${picture.slice(5)}_1`, 'A fox asleep in snow'],
  ['task-film', ({ film }) => `/tasks/${film}`, 'A train crosses a viaduct'],
  ['task-failed', ({ failed }) => `/tasks/${failed}`, 'A cup of tea'],
  ['task-unknown', () => '/tasks/task_01aaaaaaaaaaaaaaaaaaaaaaaa', 'Task'],
  ['compare', ({ picture, film }) => `/compare?tasks=${picture},${film}`, 'Compare'],
  ['gallery', () => '/gallery', 'Gallery'],
  ['batches', () => '/batches', 'Batches'],
  ['batch', ({ batchId }) => `/batches/${batchId}`, 'spring'],
  ['batch-unknown', () => '/batches/batch_01aaaaaaaaaaaaaaaaaaaaaaaa', 'Batch'],
  ['connect', () => '/connect', 'Connect'],
  ['keys', () => '/keys', 'API keys'],
  ['key', ({ keyId }) => `/keys/${keyId}`, 'key'],
  ['key-new', () => '/keys/new', 'New API key'],
  ['webhooks', () => '/webhooks', 'Webhooks'],
  ['webhook-new', () => '/webhooks/new', 'New endpoint'],
  ['event', ({ endpointId, eventId }) => `/webhooks/${endpointId}/events/${eventId}`, 'task.'],
  ['endpoint', ({ endpointId }) => `/webhooks/${endpointId}`, '127.0.0.1'],
  ['queue', () => '/queue', 'Queue and workers'],
  ['providers', () => '/providers', 'Providers'],
  ['usage', () => '/usage', 'Usage'],
  ['usage-keys', () => '/usage?by=key', 'Usage'],
  ['usage-errors', () => '/usage?range=7d&by=error&view=table', 'Usage'],
  ['settings', () => '/settings', 'Settings'],
  ['about', () => '/settings/about', 'About'],
  ['unknown', () => '/nowhere', 'Nothing here'],
];

describeInBrowser('the screens of the dashboard', () => {
  let service: OwnService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let seeded: Seeded;

  beforeAll(async () => {
    if (DRAWS) mkdirSync(SHOTS, { recursive: true });
    [service, browser] = await Promise.all([startOwnService(), launch()]);
    seeded = await seed(service.baseUrl, service.api.key as string);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  afterEach(() => {
    // Of a task that no address names.
    expect(visitor.problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  it.each(SCREENS)(
    '%s fits four widths, covers and cuts nothing, and passes axe in both themes',
    async (name, path, heading) => {
      const { page } = visitor;
      const faults: string[] = [];
      await page.setViewportSize({ width: 1280, height: HEIGHT });
      await visitor.goto(path(seeded));
      await page.getByRole('heading', { name: heading }).first().waitFor(); // of the page, or of a dialog over it
      await page.locator('[aria-busy]').waitFor({ state: 'detached' });
      await page.evaluate(PICTURES_DRAWN);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        faults.push(...(await layoutFaults(page)).map((fault) => `${width} px: ${fault}`));
      }
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width: 1280, height: HEIGHT });
        faults.push(...(await axeFaults(page, theme)).map((fault) => `${theme}: ${fault}`));
        if (!DRAWS) continue;
        for (const width of MAIN.includes(name) ? WIDTHS : DRAWN_WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHT });
          await page.screenshot({ path: `${SHOTS}${name}-${width}-${theme}.png` });
        }
      }
      expect(faults).toEqual([]);
    },
  );

  it.each([
    ['/nowhere', 'Create'],
    ['/gallery/file_00zzzzzzzzzzzzzzzzzzzzzzzz_0', 'Gallery'],
    ['/batches/batch_01aaaaaaaaaaaaaaaaaaaaaaaa', 'Batches'],
    ['/webhooks/we_01aaaaaaaaaaaaaaaaaaaaaaaa/events/evt_01aaaaaaaaaaaaaaaaaaaaaaaa', 'Webhooks'],
    ['/tasks/task_01aaaaaaaaaaaaaaaaaaaaaaaa', 'Tasks'],
    ['/webhooks/we_01aaaaaaaaaaaaaaaaaaaaaaaa', 'Webhooks'],
    ['/keys/key_01aaaaaaaaaaaaaaaaaaaaaaaa', 'API keys'],
  ])('keeps the menu at %s, where nothing is, and leads on', async (path, act) => {
    const { page } = visitor;
    await page.setViewportSize({ width: 1280, height: HEIGHT });
    await visitor.goto(path);
    const leads = page.locator('#main').getByRole('link', { name: act });
    await leads.waitFor();
    await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: act }).waitFor();
    await leads.click();
    await leads.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: act }).waitFor();
  });

  it('has the buttons of a long form in sight, and says why a secret does not close', async () => {
    const { page } = visitor;
    await visitor.goto('/keys/new');
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByLabel('Name').fill('mobile app');
    await form.getByText('Limits and budget').click();
    const tops = ['Creations a minute', 'Other calls a minute'].map(
      async (label) => (await form.getByLabel(label).boundingBox())?.y,
    );
    expect(await tops[1]).toBe((await tops[0]) ?? -1);
    const create = form.getByRole('button', { name: 'Create key' });
    const [box, button] = [await form.boundingBox(), await create.boundingBox()];
    expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual((box?.y ?? 0) + (box?.height ?? 0));
    await create.click();
    const once = page.getByRole('dialog', { name: 'The new API key' });
    await once.getByLabel('I have saved it').waitFor();
    await page.keyboard.press('Escape');
    await once.getByText('Save it first').waitFor();
    expect(await once.getByLabel('I have saved it').evaluate(HAS_FOCUS)).toBe(true);
    await once.getByLabel('I have saved it').check();
    await once.getByRole('button', { name: 'Done' }).click();
  });
});

/** Until every picture in sight is decoded, and drawn. */
const PICTURES_DRAWN = `Promise.all([...document.images].filter((each) => each.getBoundingClientRect().top < innerHeight)
  .map((each) => each.decode().catch(() => undefined))).then(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))`;
