import type { Page } from 'playwright-core';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Rest } from '../../support/browser/rest.ts';
import { Visitor } from '../../support/browser/visitor.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';

interface Made {
  task_id: string;
  result: { outputs: { id: string }[] };
}

/** What a browser tells a page when its tab is chosen again. */
const comeBack = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

describeInBrowser('what is changed elsewhere while a screen is open', () => {
  let service: OwnService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let rest: Rest;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startOwnService(), launch()]);
    rest = new Rest(service.baseUrl, service.api.key as string);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  const make = (prompt: string) => rest.finished<Made>({ model: 'gpt-image-2', prompt });
  const open = async (path: string) => {
    const page = await visitor.context.newPage();
    await page.goto(`${service.baseUrl}/app${path}`);
    return page;
  };

  it('shows no task and no picture that was deleted elsewhere once the tab is chosen again', async () => {
    const [kept, doomed] = [await make('A pear that stays'), await make('A pear that goes')];
    const [file, other] = [doomed.result.outputs[0]?.id as string, kept.result.outputs[0]?.id as string];
    const pages = {
      gallery: await open('/gallery'),
      viewer: await open(`/gallery/${file}`),
      tasks: await open('/tasks'),
      task: await open(`/tasks/${doomed.task_id}`),
      compare: await open(`/compare?outputs=${file},${other}`),
    };
    const full = pages.viewer.getByRole('dialog', { name: 'Picture' });
    const pane = pages.compare.getByRole('region', { name: 'Output 1' });
    const tile = pages.gallery.locator(`[data-file="${file}"]`);
    await tile.locator('img').waitFor();
    await full.locator('img').first().waitFor();
    await pages.tasks.getByRole('row').filter({ hasText: 'A pear that goes' }).waitFor();
    await pages.task.getByRole('heading', { name: 'Timeline' }).waitFor();
    await pane.locator('img').waitFor();

    await service.api.call('DELETE', `/v1/tasks/${doomed.task_id}`);
    for (const page of Object.values(pages)) await comeBack(page);
    await tile.getByText('Deleted').waitFor();
    await full.getByText('Deleted.').waitFor();
    await pages.tasks.getByRole('row').filter({ hasText: 'Deleted' }).waitFor();
    await pages.task.getByText('No task of yours has this id').waitFor();
    await pane.getByText('The file is deleted.').waitFor();
    await pages.compare.getByRole('region', { name: 'Output 2' }).locator('img').waitFor();
    expect(await full.getByRole('link', { name: 'Download' }).count()).toBe(0);

    // A star of another tab shows too.
    await service.api.call('PUT', `/v1/files/${other}/keep`, {});
    await comeBack(pages.gallery);
    await pages.gallery
      .locator(`[data-tile="${other}"]`)
      .getByRole('button', { name: /A pear that stays/, pressed: true })
      .waitFor();
    for (const page of Object.values(pages)) await page.close();
  });

  it('counts in Usage what was made while it was open', async () => {
    const { page } = visitor;
    await visitor.goto('/usage');
    const tasks = page.getByRole('definition').first();
    await tasks.waitFor();
    const before = Number.parseInt(String(await tasks.textContent()), 10);
    await make('A pear that counts');
    await comeBack(page);
    await tasks.getByText(String(before + 1), { exact: true }).waitFor();
  });
});
