import type { Locator, Page } from 'playwright-core';
import { axeFaultsInThemes } from '../../support/browser/axe.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { layoutFaults } from '../../support/browser/layout.ts';
import { Visitor } from '../../support/browser/visitor.ts';
import { Api } from '../../support/clients/api.ts';
import { anotherKey } from '../../support/clients/graphql-keys.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

interface FileBody {
  kept: boolean;
  collection: string | null;
  url: string | null;
}

const tile = (page: Page, fileId: string) => page.locator(`[data-tile="${fileId}"]`);
const starOf = (place: Locator) => place.getByRole('button', { name: /^Keep/ });
const isPressed = async (button: Locator) => (await button.getAttribute('aria-pressed')) === 'true';
const opacityOf = (each: Locator) =>
  each.evaluate((element) => {
    const { getComputedStyle: style } = globalThis as unknown as { getComputedStyle(of: unknown): { opacity: string } };
    return style(element).opacity;
  });

describeInBrowser('what is kept, on the dashboard', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) {
      await visitor.close();
      expect(visitor.problems.filter((problem) => !problem.includes('404'))).toEqual([]);
    }
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  /** Someone with a key of their own, which has made pictures. */
  const visit = async (
    pictures: readonly number[],
    { limits = {}, ...options }: { limits?: object } & Parameters<typeof Visitor.open>[2] = {},
  ) => {
    const { key } = await anotherKey(service.api, { limits });
    const api = new Api(service.baseUrl, key);
    const files: string[] = [];
    for (const [nth, n] of pictures.entries()) {
      const made = await api.create({ model: 'gpt-image-2', prompt: `Plate ${nth + 1}`, n });
      const { result } = await api.untilFinal(made.body.task_id);
      files.push(...result!.outputs.map(({ id }) => id));
    }
    const visitor = await Visitor.open(browser, service.baseUrl, options);
    visitors.push(visitor);
    await visitor.enter(key);
    const file = async (id: string) => (await api.get<FileBody>(`/v1/files/${id}`)).body;
    return { api, files: files as [string, ...string[]], file, visitor, page: visitor.page };
  };
  const taskOf = (fileId: string) => `task_${fileId.split('_')[1]}`;

  it('has a star on each tile of the gallery, by press and by key, as the service says', async () => {
    const { files, file, visitor, page } = await visit([2]);
    const [first, second] = files as [string, string];
    await visitor.goto('/gallery');
    const star = starOf(tile(page, first));
    await tile(page, first).hover();
    await star.click();
    await eventually('the service keeps it', async () => (await file(first)).kept);
    expect((await file(second)).kept).toBe(false);
    await page.reload();
    await eventually('it is kept after a reload', () => isPressed(star));
    expect(await isPressed(starOf(tile(page, second)))).toBe(false);
    await page.locator(`[data-file="${second}"]`).focus();
    await page.keyboard.press('s');
    await eventually('the second too', async () => (await file(second)).kept);
    await page.keyboard.press('s');
    await eventually('no more', async () => !(await file(second)).kept);
    // Only what is kept: of one task one of two.
    await page.getByRole('button', { name: 'Kept', exact: true }).click();
    await page.waitForURL('**/gallery?kept=1');
    await tile(page, second).waitFor({ state: 'detached' });
    await tile(page, first).waitFor();
    await visitor.goto('/tasks?kept=1');
    await page.getByRole('row').getByRole('img', { name: 'Kept' }).waitFor();
    // A key of two is not taken for its second one.
    await visitor.goto('/gallery');
    await page.locator(`[data-file="${second}"]`).focus();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForURL('**/app/settings');
    expect((await file(second)).kept).toBe(false);
  });

  it('shows the star before the answer, and takes it back with the words of the refusal', async () => {
    const { files, file, visitor, page } = await visit([1], { limits: { max_kept_bytes: 1 } });
    await visitor.goto('/gallery');
    const star = starOf(tile(page, files[0]));
    let answer = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('keepFile')) await held;
      await route.continue();
    });
    await tile(page, files[0]).hover();
    await star.click();
    expect(await isPressed(star)).toBe(true);
    answer();
    await page.getByRole('status', { name: 'Reports' }).getByText('may take 1 bytes').waitFor();
    expect(await isPressed(star)).toBe(false);
    expect((await file(files[0])).kept).toBe(false);
  });

  it('gives up by a second press before the answer to the first, whatever was read between them', async () => {
    const { files, file, visitor, page } = await visit([1]);
    await visitor.goto('/gallery');
    let answer = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation KeepFile')) await held;
      await route.continue();
    });
    const star = starOf(tile(page, files[0]));
    const press = () => page.locator(`[data-file="${files[0]}"]`).press('s');
    await press();
    // The gallery is read again, where the picture is not kept yet.
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Kind').selectOption('Films');
    await star.waitFor({ state: 'detached' });
    await page.getByLabel('Kind').selectOption('Any kind');
    await star.waitFor({ state: 'attached' });
    expect(await isPressed(star)).toBe(true);
    await press();
    expect(await isPressed(star)).toBe(false);
    const givenUp = page.waitForResponse((response) => response.request().postData()?.includes('UnkeepFile') ?? false);
    answer();
    await givenUp;
    expect((await file(files[0])).kept).toBe(false);
    expect(await isPressed(star)).toBe(false);
  });

  it('puts a picture in a new collection and in one that there is, and finds it there', async () => {
    const { files, file, visitor, page } = await visit([1, 1]);
    const [first, second] = files as [string, string];
    await visitor.goto('/gallery');
    await page.locator(`[data-file="${first}"]`).focus();
    await page.keyboard.press('b');
    const dialog = page.getByRole('dialog', { name: 'Put it in a collection' });
    await dialog.getByLabel('New collection').fill('Covers');
    expect(await axeFaultsInThemes(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await eventually('it is in it', async () => (await file(first)).collection === 'Covers');
    await dialog.waitFor({ state: 'detached' });
    await page.locator(`[data-file="${second}"]`).press('Enter');
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    await viewer.getByRole('button', { name: 'Collection' }).click();
    await dialog.getByRole('button', { name: 'Covers' }).click();
    await viewer.getByText('Kept in Covers: time does not delete it.').waitFor();
    await eventually('it is in it too', async () => (await file(second)).collection === 'Covers');
    // In none, and still kept.
    await page.keyboard.press('b');
    await dialog.getByRole('button', { name: 'In none, only kept' }).click();
    await viewer.getByText('Kept: time does not delete it.').waitFor();
    await eventually('it is in none', async () => (await file(second)).collection === null);
    expect((await file(second)).kept).toBe(true);
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.postData()?.includes('query KeptNames')) reads.push(request.url());
    });
    await visitor.goto('/gallery');
    await tile(page, first).waitFor();
    expect(reads).toEqual([]); // nobody has asked for the names yet
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Collection').selectOption('Covers');
    await page.waitForURL('**/gallery?collection=Covers');
    await tile(page, second).waitFor({ state: 'detached' });
    await tile(page, first).waitFor();
  });

  it('draws a ring around what is deleted within two days, says so, and not around what is kept', async () => {
    const { files, visitor, page } = await visit([1], { limits: { file_retention_days: 1.9 } });
    await visitor.goto('/gallery');
    const place = tile(page, files[0]);
    await place.locator('[data-ends]').waitFor();
    await place.getByRole('button', { name: /^Keep .*, deleted in 2 days$/ }).waitFor();
    await page.locator(`[data-file="${files[0]}"]`).press('Enter');
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    await viewer.getByText(/^Deleted in 2 days, on /).waitFor();
    expect(await axeFaultsInThemes(page)).toEqual([]);
    await viewer.getByRole('group', { name: 'Keep' }).getByRole('button', { name: 'Keep' }).click();
    await viewer.getByText('Kept: time does not delete it.').waitFor();
    await page.keyboard.press('Escape');
    await place.locator('[data-ends]').waitFor({ state: 'detached' });
  });

  it('keeps from Create, and from the page of the task, where all of it can be kept', async () => {
    const { files, file, visitor, page } = await visit([2]);
    const [first, second] = files as [string, string];
    await page.locator('textarea[name=prompt]').fill('A star over the table');
    await page.keyboard.press('Control+Enter');
    const strip = page.getByRole('article', { name: 'Run: A star over the table' });
    await strip.getByText('Succeeded').waitFor();
    const made = String(await strip.locator('[data-tile]').getAttribute('data-tile'));
    await page.evaluate('document.activeElement.blur()');
    await starOf(strip).waitFor({ state: 'attached' });
    await page.keyboard.press('s');
    await eventually('the newest is kept', async () => (await file(made)).kept);
    await eventually('its star says so', () => isPressed(starOf(strip)));

    await visitor.goto(`/tasks/${taskOf(first)}?output=2`);
    const star = page.getByRole('toolbar', { name: 'View' }).getByRole('button', { name: 'Keep' });
    await star.click();
    await eventually('the second output is kept', async () => (await file(second)).kept);
    expect((await file(first)).kept).toBe(false);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Give up, with its files' }).click();
    await eventually('it is given up', async () => !(await file(second)).kept);
    await eventually('which the star shows', async () => !(await isPressed(star)));
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Keep, with its files' }).click();
    await eventually('all is kept', async () => (await file(first)).kept && (await file(second)).kept);
  });

  it('loads, keeps, collects and deletes what is selected, and tells truly what was refused', async () => {
    const { api, files, file, visitor, page } = await visit([2, 1, 1]);
    await visitor.goto('/gallery');
    const bar = page.getByRole('toolbar', { name: 'Selection' });
    const reports = page.getByRole('status', { name: 'Reports' });
    for (const id of files) {
      await tile(page, id).hover();
      await tile(page, id).getByRole('checkbox').check();
    }
    await bar.getByText('4 selected').waitFor();
    expect(await bar.getByRole('link', { name: 'Compare' }).getAttribute('href')).toContain('/app/compare?outputs=');
    const zip = page.waitForEvent('download');
    await bar.getByRole('button', { name: 'Download' }).click();
    expect((await zip).suggestedFilename()).toMatch(/\.zip$/);
    expect(await axeFaultsInThemes(page)).toEqual([]);
    await bar.getByRole('button', { name: 'Keep' }).click();
    await reports.getByText('4 files kept.').waitFor();
    await bar.getByRole('button', { name: 'Collection' }).click();
    await page.getByRole('dialog', { name: 'Put 4 files in a collection' }).getByLabel('New collection').fill('Best');
    await page.keyboard.press('Enter');
    await reports.getByText('4 files kept in “Best”.').waitFor();
    expect(await Promise.all(files.map(async (id) => (await file(id)).collection))).toEqual(Array(4).fill('Best'));

    await bar.getByRole('button', { name: 'Share' }).click();
    const sharing = page.getByRole('dialog', { name: 'Share 4 files' });
    await sharing.getByRole('button', { name: 'Share and copy the link' }).click();
    const link = sharing.getByRole('region', { name: 'Shared now' }).getByRole('link', { name: '4 files' });
    const shared = await (await fetch(String(await link.getAttribute('href')))).text();
    expect(shared.match(/<img /g)).toHaveLength(4);
    await sharing.getByRole('button', { name: 'Close' }).click();

    await bar.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete 4 files?' });
    await dialog.getByText('4 of them are kept.').waitFor();
    expect(await axeFaultsInThemes(page)).toEqual([]);
    const gone = files.at(-1) as string;
    await api.call('DELETE', `/v1/tasks/${taskOf(gone)}`); // by another client meanwhile
    await page.route('**/graphql', async (route) => {
      const body = route.request().postData() ?? '';
      if (!body.includes('mutation DeleteFile') || !body.includes(files[1] as string)) return route.fallback();
      return route.fulfill({ json: { errors: [{ message: 'Not now.', extensions: { code: 'queue_full' } }] } });
    });
    await dialog.getByRole('button', { name: 'Delete 4 files' }).click();
    await dialog.getByRole('alert').getByText('3 files deleted. 1 refused: Not now.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await tile(page, files[0]).waitFor({ state: 'detached' });
    expect((await file(files[0])).url).toBe(null);
    const task = await api.get(`/v1/tasks/${taskOf(files[0])}`);
    expect([task.status, task.body.status]).toEqual([200, 'succeeded']);
  });

  it('says of a file that is deleted from a gallery with deleted files that it is deleted, and offers it no more', async () => {
    const { files, visitor, page } = await visit([1]);
    const [first] = files;
    const bar = page.getByRole('toolbar', { name: 'Selection' });
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    await visitor.goto('/gallery?expired=1');
    await tile(page, first).hover();
    await tile(page, first).getByRole('checkbox').check();
    await bar.getByRole('button', { name: 'Download' }).waitFor();
    await bar.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 file' }).click();
    await bar.waitFor({ state: 'detached' });
    await tile(page, first)
      .getByText(/^Deleted/)
      .waitFor();
    await tile(page, first).getByRole('checkbox').check();
    await bar.getByText('1 selected').waitFor();
    expect(await bar.getByRole('button', { name: /Download|reference/ }).count()).toBe(0);
    await page.locator(`[data-file="${first}"]`).click();
    await viewer.getByRole('button', { name: 'Locate' }).waitFor();
    expect(await viewer.getByRole('button', { name: /Animate|reference/ }).count()).toBe(0);
  });

  it('shares a picture until a day, copies the link, lists it, and ends it', async () => {
    const { files, visitor, page } = await visit([1]);
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await visitor.goto(`/gallery/${files[0]}`);
    await page.getByRole('dialog', { name: 'Picture' }).getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share' });
    const until = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    await dialog.getByLabel('Until the end of').fill(until);
    await dialog.getByText('The file is deleted before.').waitFor(); // it is not kept
    await dialog.getByLabel('Show the prompt').check();
    expect(await axeFaultsInThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Share and copy the link' }).click();
    const list = dialog.getByRole('region', { name: 'Shared now' });
    const row = list.getByRole('listitem');
    await row.getByText(/^until .*, with the prompt$/).waitFor();
    const link = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(await row.getByRole('link').getAttribute('href')).toBe(link);
    const shared = await fetch(link);
    expect([shared.status, await shared.text()]).toEqual([200, expect.stringContaining('Plate 1')]);
    expect(await axeFaultsInThemes(page)).toEqual([]);
    await row.getByRole('button', { name: 'End it' }).click();
    await list.waitFor({ state: 'detached' });
    expect((await fetch(link)).status).not.toBe(200);
  });

  it('has the star in the viewer of a phone, and what is known of the picture as a sheet over it', async () => {
    const { files, file, visitor, page } = await visit([1], { touch: true, width: 360, height: 740 });
    await visitor.goto(`/gallery/${files[0]}`);
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    const star = viewer.getByRole('toolbar', { name: 'View' }).getByRole('button', { name: 'Keep' });
    await star.tap();
    await eventually('it is kept', async () => (await file(files[0])).kept);
    await viewer.getByRole('button', { name: 'About the picture' }).tap();
    const panel = viewer.getByRole('complementary', { name: 'About the picture' });
    await panel.getByText('Kept: time does not delete it.').waitFor();
    const box = await panel.boundingBox();
    expect([box?.x, box?.width]).toEqual([0, 360]);
  });

  it('has its checkboxes and stars in sight where nothing hovers, and after the tile for the keyboard', async () => {
    const { files, visitor, page } = await visit([2], { touch: true, width: 390, height: 844 });
    const [first, second] = files as [string, string];
    await visitor.goto('/gallery');
    const place = tile(page, second);
    const box = place.getByRole('checkbox');
    await box.waitFor();
    expect([await opacityOf(box), await opacityOf(starOf(place))]).toEqual(['1', '1']);
    await box.tap();
    const bar = page.getByRole('toolbar', { name: 'Selection' });
    await bar.getByText('1 selected').waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    await page.locator(`[data-file="${first}"]`).focus();
    const focused = () => page.evaluate('document.activeElement.ariaLabel');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Keep Plate 1, output 1');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Select Plate 1, output 1');
    await page.keyboard.press('Space');
    await bar.getByText('2 selected').waitFor();
    await page.keyboard.press('ArrowRight');
    await eventually(
      'the next tile',
      async () => (await page.evaluate('document.activeElement.dataset.file')) === second,
    );
  });
});
