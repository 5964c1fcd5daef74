import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Rest } from '../../support/browser/rest.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { BatchClient } from '../../support/clients/batches.ts';
import { decodedWidth, HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';

interface Made {
  task_id: string;
  result: { outputs: { id: string }[] };
}

const TASKS = 75;
const EACH = 4;
/** The oldest tasks, whose files are deleted. */
const PURGED = 5;
const HOURS_APART = 8;
const DAY_MS = 86_400_000;

const focusedFile = async (page: Page) => String(await page.evaluate('document.activeElement?.dataset?.file ?? null'));

describeInBrowser('a gallery of 300 outputs', () => {
  let service: OwnService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let rest: Rest;
  /** Ids of the outputs as the gallery orders them, with those of deleted files. */
  let files: string[];

  beforeAll(async () => {
    const PROVIDERS = join(tmpdir(), `darkroom-prices-${process.pid}.yaml`);
    await writeFile(PROVIDERS, 'prices: [{ provider: sandbox, model: gpt-image-2, per_image: "0.1" }]\n');
    [service, browser] = await Promise.all([startOwnService({ PROVIDERS }), launch()]);
    rest = new Rest(service.baseUrl, service.api.key as string);
    const made = await rest.finished<Made>({ model: 'gpt-image-2', prompt: 'Plate 0', n: EACH, aspect_ratio: '3:2' });
    const id = made.task_id.slice('task_'.length);
    // Copies of one task, some hours apart, whose outputs share its four files.
    await queryOnce(
      service.database.url,
      `insert into tasks_done
       select copy.* from tasks_done made, generate_series(1, ${TASKS - 1}) n,
         lateral (select '00' || lpad((${TASKS} - n)::text, 24, '0') as id,
                         now() - n * interval '${HOURS_APART} hours' as at, n >= ${TASKS - PURGED} as purged) new,
         lateral jsonb_populate_record(made, jsonb_build_object(
           'id', 'task_' || new.id, 'created_at', new.at, 'started_at', new.at, 'completed_at', new.at,
           'input', jsonb_build_object('prompt', 'Plate ' || n, 'aspect_ratio', '3:2', 'n', ${EACH}),
           'result', replace(made.result::text, '"file_${id}', '"file_' || new.id)::json,
           'files_purged', new.purged,
           'files_expire_at', case when new.purged then now() - interval '1 day' else made.files_expire_at end)) copy
       where made.id = 'task_${id}'`,
    );
    files = [
      id,
      ...Array.from({ length: TASKS - 1 }, (_, at) => `00${String(TASKS - 1 - at).padStart(24, '0')}`),
    ].flatMap((task) => Array.from({ length: EACH }, (_, index) => `file_${task}_${index}`));
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await browser.close();
    await service.close();
    expect(problems).toEqual([]);
  });

  const focusIs = (name: string, file: string | undefined) =>
    eventually(name, async () => (await focusedFile(visitor.page)) === file);

  it('goes on to its end while one scrolls, each output once and in order; deleted ones say so', async () => {
    const { page } = visitor;
    await visitor.goto('/gallery?expired=1&size=s');
    await page.locator('[data-file]').first().waitFor();
    const seen = new Set<string>();
    await eventually('all were in sight', async () => {
      const drawn = await page
        .locator('[data-file]')
        .evaluateAll((tiles) => tiles.map((tile) => (tile as unknown as { dataset: { file: string } }).dataset.file));
      for (const file of drawn) seen.add(file);
      await page.evaluate('scrollBy(0, innerHeight)');
      return seen.size >= files.length;
    });
    expect([...seen]).toEqual(files);
    await page
      .locator(`[data-file="${files.at(-1)}"]`)
      .getByText(/^Deleted/)
      .waitFor();
    await visitor.goto('/gallery');
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(await page.getByLabel('With deleted files').isChecked()).toBe(false);
  });

  it('moves by page keys, arrows, Home and End, before and after the lightbox', async () => {
    const { page } = visitor;
    const { keyboard } = page;
    const last = files.at(-1 - PURGED * EACH);
    const moves = async () => {
      await keyboard.press('Home');
      await focusIs('the first', files[0]);
      await keyboard.press('ArrowRight');
      await focusIs('the second', files[1]);
      await keyboard.press('ArrowLeft');
      await focusIs('the first again', files[0]);
      await keyboard.press('ArrowDown');
      await eventually('a row below', async () => files.indexOf(await focusedFile(page)) > 1);
      const row = files.indexOf(await focusedFile(page));
      await keyboard.press('PageDown');
      await eventually('a page below', async () => files.indexOf(await focusedFile(page)) > row);
      await keyboard.press('PageUp');
      await eventually('a page up', async () => files.indexOf(await focusedFile(page)) <= row);
      await keyboard.press('End');
      await focusIs('the last of all, which was not read before', last);
    };
    await visitor.goto('/gallery');
    await page.locator('[data-file]').first().focus();
    await moves();

    await keyboard.press('Home');
    await focusIs('the first', files[0]);
    await keyboard.press('Enter');
    await page.waitForURL(`**/gallery/${files[0]}*`);
    await page.getByRole('dialog', { name: 'Picture' }).locator('img').first().waitFor();
    await keyboard.press('End');
    await page.waitForURL(`**/gallery/${last}*`);
    await keyboard.press('Home');
    await page.waitForURL(`**/gallery/${files[0]}*`);
    await keyboard.press('ArrowRight');
    await page.waitForURL(`**/gallery/${files[1]}*`);
    await keyboard.press('Escape');
    await focusIs('the tile that the lightbox showed', files[1]);
    await moves();
  });

  it('opens a link to an output that is far down, and locates it', async () => {
    const { page } = visitor;
    const far = files[(TASKS - PURGED - 2) * EACH];
    await visitor.goto(`/gallery/${far}`);
    await page.getByRole('dialog', { name: 'Picture' }).locator('img').first().waitFor();
    await page.keyboard.press('l');
    await focusIs('its tile', far);
    await page.waitForURL((url) => url.pathname === '/app/gallery');
  });

  it('shows a picture in all the room of the lightbox, with no blank band', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 1440, height: 1100 });
    await visitor.goto(`/gallery/${files[0]}`);
    const dialog = page.getByRole('dialog', { name: 'Picture' });
    const picture = dialog.locator('img').first();
    await picture.waitFor();
    const bottom = async (of: typeof picture) => {
      const { y = 0, height = 0 } = (await of.boundingBox()) ?? {};
      return y + height;
    };
    await eventually('the frame ends at its bar', async () => {
      const bar = await dialog.getByRole('toolbar', { name: 'View' }).boundingBox();
      return Math.abs((await bottom(picture)) - (bar?.y ?? 0)) < 3;
    });
    const width = await picture.evaluate(decodedWidth);
    const zoom = dialog.getByRole('button', { name: /^Zoom: / });
    await eventually('its zoom is the real one', async () => {
      const box = (await picture.boundingBox()) ?? { width: 0, height: 0 };
      const real = 100 * Math.min(box.width / width, box.height / (width / 1.5));
      return Math.abs(Number(/\d+/.exec((await zoom.textContent()) ?? '')?.[0]) - real) <= 1;
    });
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  it('shows it in the dark in any theme, with what it was made from, and leads on by its filmstrip', async () => {
    const { page } = visitor; // in the light theme
    await visitor.goto(`/gallery/${files[0]}`);
    const dialog = page.getByRole('dialog', { name: 'Picture' });
    await dialog.locator('img').first().waitFor();
    const ground = await dialog.evaluate((element) => {
      const { getComputedStyle: style } = globalThis as unknown as { getComputedStyle(of: unknown): { color: string } };
      return style(element).color;
    });
    expect(ground).toBe('rgb(243, 237, 231)');
    const about = dialog.getByRole('complementary', { name: 'About the picture' });
    await about.getByText('Plate 0').waitFor();
    await about.getByText('aspect_ratio').waitFor();
    await dialog.getByRole('button', { name: 'Picture 3', exact: true }).click();
    await page.waitForURL(`**/gallery/${files[2]}*`);
    await page.keyboard.press('i');
    await about.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await focusIs('the tile that was shown', files[2]);
  });

  it('loads no picture anew on the way back from a task', async () => {
    const { page } = visitor;
    await visitor.goto('/gallery');
    await page.locator('[data-file] img').first().evaluate(decodedWidth);
    await page.locator('[data-file]').first().focus();
    await page.keyboard.press('t');
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    const transferred = () =>
      page.evaluate(
        `performance.getEntriesByType('resource').filter(({ name, transferSize }) => name.includes('/v1/files/') && transferSize > 0).length`,
      ) as Promise<number>;
    const before = await transferred();
    await page.goBack();
    await page.locator('[data-file] img').first().evaluate(decodedWidth);
    await focusIs('the tile that was left', files[0]);
    expect(await transferred()).toBe(before);
  });

  it('jumps to a date, with the focus once one presses Enter', async () => {
    const { page } = visitor;
    await visitor.goto('/gallery');
    await page.locator('[data-file]').first().waitFor();
    const day = new Date(Date.now() - 15 * DAY_MS);
    await page.getByRole('button', { name: 'Jump to day' }).click();
    const date = page.getByLabel('Jump to date');
    expect(await date.evaluate(HAS_FOCUS)).toBe(true);
    await page.keyboard.press('Escape'); // the calendar of the browser
    await date.fill(day.toISOString().slice(0, 10));
    const name = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(day);
    const heading = page.getByRole('heading', { name, exact: true });
    await heading.waitFor();
    await eventually('the day is at the top, under the bars', async () => {
      const top = (await heading.boundingBox())?.y ?? 0;
      return top > 40 && top < 300;
    });
    expect(
      await date.evaluate((field) => (field as unknown as { matches(selector: string): boolean }).matches(':focus')),
    ).toBe(true);
    await date.press('Enter');
    // The newest task of that day.
    const nth = Array.from({ length: TASKS }, (_, at) => at).find(
      (at) =>
        new Date(Date.now() - at * HOURS_APART * 3_600_000).toISOString().slice(0, 10) ===
        day.toISOString().slice(0, 10),
    );
    await focusIs('its first tile', files[(nth ?? 0) * EACH]);

    await date.fill('2020-01-01');
    await page.getByText('Nothing of that day or before it matches.').waitFor();
  });

  it('finds by words, kind, model and time, which the address, a reload and Back agree with', async () => {
    const { page } = visitor;
    const tiles = page.locator('[data-file]');
    const shows = (count: number) => eventually(`${count} tiles`, async () => (await tiles.count()) === count);
    await visitor.goto('/gallery');
    await tiles.first().waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('/');
    await page.keyboard.type('plate 33');
    await page.waitForURL('**/gallery?q=plate+33');
    await shows(EACH);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Model').selectOption('nano-banana-2');
    await page.getByText('Nothing matches these filters').waitFor();
    await page.reload();
    await page.getByText('Nothing matches these filters').waitFor();
    expect(await page.getByLabel('Words in the prompt').inputValue()).toBe('plate 33');
    await page.goBack();
    await shows(EACH);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Time').selectOption('week');
    await page.getByText('Nothing matches these filters').waitFor(); // 33 times eight hours ago
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/app/gallery' && url.search === '');
    await eventually('all again', async () => (await tiles.count()) > EACH);
  });

  it('takes several to Compare by keyboard', async () => {
    const { page } = visitor;
    await visitor.goto('/gallery');
    await page.locator('[data-file]').first().focus();
    await page.keyboard.press('x');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('X');
    await page.getByRole('toolbar', { name: 'Selection' }).getByText('3 selected').waitFor();
    await page.getByRole('link', { name: 'Compare' }).press('Enter');
    await page.waitForURL('**/app/compare?outputs=*');
    await page.getByRole('region', { name: 'Output 3' }).locator('img').waitFor();
  });

  it('shows the star of a file far down that was set while the tab was not looked at', async () => {
    const { page } = visitor;
    const file = files[60 * EACH];
    const tile = page.locator(`[data-file="${file}"]`);
    const scrollTo = (place: string, isThere: boolean) =>
      eventually(`the tile is ${isThere ? 'drawn' : 'not drawn'}`, async () => {
        await page.evaluate(place);
        return (await tile.count()) > 0 === isThere;
      });
    await visitor.goto('/gallery?size=s');
    await page.locator('[data-file]').first().waitFor();
    await scrollTo('scrollBy(0, innerHeight)', true);
    const star = page.locator(`[data-tile="${file}"]`).getByRole('button', { name: /^Keep/, pressed: true });
    expect(await star.count()).toBe(0);
    await scrollTo('scrollTo(0, 0)', false);
    await service.api.call('PUT', `/v1/files/${file}/keep`, {});
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('NewestTasks') ?? false,
    );
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await answered;
    await scrollTo('scrollBy(0, innerHeight)', true);
    await star.waitFor();
  });

  it('says of a file that its owner deleted that it is deleted', async () => {
    const { page } = visitor;
    // Not one of the copies, which share their bytes.
    const made = await rest.finished<Made>({ model: 'gpt-image-2', prompt: 'Soon deleted' });
    const deleted = made.result.outputs[0]!.id;
    await service.api.call('DELETE', `/v1/files/${deleted}`);
    await visitor.goto('/gallery');
    await page.locator('[data-file]').first().waitFor();
    const file = page.locator(`[data-file="${deleted}"]`);
    expect(await file.count()).toBe(0);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('With deleted files').check();
    await file.getByText(/^Deleted/).waitFor();
  });

  it('offers what is made meanwhile and matches, and shows it when asked', async () => {
    const { page } = visitor;
    await visitor.goto('/gallery?model=gpt-image-2');
    await page.locator('[data-file]').first().waitFor();
    await rest.finished<Made>({ model: 'nano-banana-2', prompt: 'Of another model' });
    const made = await rest.finished<Made>({ model: 'gpt-image-2', prompt: 'Made meanwhile', n: 2 });
    const tile = page.locator(`[data-file="${made.result.outputs[1]!.id}"]`);
    const pill = page.getByRole('button', { name: '2 new outputs' });
    await pill.waitFor();
    expect(await tile.count()).toBe(0);
    await page.locator('[data-file]').first().focus();
    await page.keyboard.press('t');
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goBack(); // which leads to the list as it was
    await pill.waitFor();
    await page.keyboard.press('.');
    await tile.waitFor();
    expect(await pill.count()).toBe(0);
  });

  it('says on the table and in a batch what each picture cost', async () => {
    const { page } = visitor;
    await visitor.goto('/create');
    await page.locator('textarea[name=prompt]').fill('A priced pear');
    await page.keyboard.press('Control+Enter');
    const strip = page.getByRole('article', { name: 'Run: A priced pear' });
    await strip.getByText(/ · USD\s0\.10$/).waitFor();
    // On a phone too it is in the button, in one line.
    await page.setViewportSize({ width: 390, height: 844 });
    const price = page.getByRole('button', { name: /^Generate/ }).getByText(/^≈\sUSD\s0\.10$/);
    await eventually('one line', async () => ((await price.boundingBox())?.height ?? Infinity) < 30);
    await page.setViewportSize({ width: 1280, height: 860 });

    const batches = new BatchClient(service.api);
    const requests = ['a plum', 'x #fail:content_policy_violation'].map((prompt) => ({ model: 'gpt-image-2', prompt }));
    const { id } = await batches.of(requests, {});
    await visitor.goto(`/batches/${id}`);
    const items = page.getByRole('list', { name: 'Items of the batch' }).getByRole('listitem');
    await items
      .nth(0)
      .getByText(/^USD\s0\.10$/)
      .waitFor();
    await items.nth(1).getByText('The provider refused the content').waitFor();
    expect(await items.nth(1).getByText(/USD/).count()).toBe(0);
    await page.getByText(/Cost USD\s0\.10/).waitFor();
  });
});
