import type { Page } from 'playwright-core';
import { axeFaultsInThemes } from '../../support/browser/axe.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Visitor } from '../../support/browser/visitor.ts';
import { BatchClient } from '../../support/clients/batches.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const model = 'gpt-image-2';

describeInBrowser('batches on the dashboard', () => {
  let service: SharedService;
  let batches: BatchClient;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    batches = new BatchClient(service.api);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
    ({ page } = visitor);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await visitor.close();
    await browser.close();
    expect(problems).toEqual([]);
  });

  const made = (prompts: string[], name: string) =>
    batches.of(
      prompts.map((prompt) => ({ model, prompt })),
      { metadata: { name } },
    );

  it('are watched by one click, and go on without another read', async () => {
    await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'Batches' }).click();
    await page.getByText('No batch yet').waitFor();
    const { id } = await made(['a cat', 'a dog', 'x #hang'], 'zoo');
    await visitor.goto('/batches');
    const row = page.getByRole('row', { name: /zoo/ });
    await row.getByText('2 of 3 items succeeded, 1 running').waitFor();
    expect(await row.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('66');
    const reads: string[] = [];
    page.on('request', (request) => {
      if (/query (?:Batches|OneBatch)\b/.test(request.postData() ?? '')) reads.push(request.url());
    });
    await batches.cancel(id);
    await row.getByText('2 of 3 items succeeded, 1 cancelled').waitFor();
    expect(reads).toEqual([]);
  });

  it('are one thing: a sheet of results, the failed ones again, a cancel, their tasks', async () => {
    const { id } = await made(
      ['a boat', 'x #fail:provider_timeout', 'x #fail:content_policy_violation', 'x #hang'],
      'fleet',
    );
    await visitor.goto(`/batches/${id}`);
    await page.getByRole('heading', { level: 1, name: 'fleet' }).waitFor();
    await page.getByText('1 of 4 items succeeded, 2 failed, 1 running').waitFor();
    const sheet = page.getByRole('list', { name: 'Items of the batch' });
    const items = sheet.getByRole('listitem');
    await items.nth(0).getByRole('img', { name: 'a boat' }).waitFor();
    await items.nth(2).getByText('The provider refused the content').waitFor();

    // What was refused for its content would be refused again.
    const [, timedOut] = await batches.tasks(id);
    const again = async () =>
      (await service.api.get<{ data: { relation: string }[] }>(`/v1/tasks?parent_task_id=${timedOut!.task_id}`)).body
        .data;
    await page.getByRole('button', { name: 'Run 1 failed again' }).click();
    await items.nth(1).getByText('again').waitFor();
    expect(await again()).toMatchObject([{ relation: 'retry' }]);

    await page.getByRole('button', { name: 'Cancel batch' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 item' }).click();
    await page.getByText('1 of 4 items succeeded, 2 failed, 1 cancelled').waitFor();
    await page
      .getByText('Cancelled:')
      .or(page.getByText('Cancelled', { exact: true }))
      .first()
      .waitFor();
    expect((await batches.untilEnded(id)).status).toBe('cancelled');
    await page.getByRole('link', { name: 'Open its tasks' }).click();
    await eventually('the items', async () => (await page.getByRole('row').count()) === 4);
    expect(new URL(page.url()).search).toBe(`?batch=${id}`);
    await service.api.create({ model, prompt: 'of no batch' }, { prefer: 'wait=30' });
    await page.getByRole('button', { name: /^batch batch_/ }).click();
    await eventually('all tasks', async () => (await page.getByRole('row').count()) > 4);
  });

  it('are read again by the page, not task by task, when one comes back to the tab', async () => {
    const COUNT = 110; // more than the newest tasks that the app itself reads
    const { id } = await made(
      Array.from({ length: COUNT }, (_, at) => `x ${at} #fail:content_policy_violation`),
      'many',
    );
    await visitor.goto(`/batches/${id}`);
    await eventually(
      'all items',
      async () => (await page.getByText('The provider refused the content').count()) === COUNT,
    );
    const reads: string[] = [];
    page.on('request', (request) => {
      const [, query] = /query (BatchItems|OneTask)\b/.exec(request.postData() ?? '') ?? [];
      if (query) reads.push(query);
    });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await eventually('three pages', async () => reads.length >= 3);
    await visitor.goto('/batches'); // what was asked before has been sent
    expect(reads).toEqual(['BatchItems', 'BatchItems', 'BatchItems']);
  });

  it('have a star on each picture of the sheet, by press and by key', async () => {
    const { id } = await made(['a comet', 'x #fail:provider_timeout'], 'sky');
    await visitor.goto(`/batches/${id}`);
    const item = page.getByRole('list', { name: 'Items of the batch' }).getByRole('listitem').first();
    const star = item.getByRole('button', { name: /^Keep/ });
    await item.hover();
    await star.click();
    const [first] = await batches.tasks(id);
    const task = `/v1/tasks/${first!.task_id}`;
    const isKept = async () => (await service.api.get<{ kept: boolean }>(task)).body.kept;
    await eventually('it is kept', isKept);
    await item.getByRole('link').press('s');
    await eventually('it is given up', async () => !(await isKept()));
    expect(await page.getByRole('button', { name: /^Keep/ }).count()).toBe(1);
    expect(await axeFaultsInThemes(page)).toEqual([]);
  });

  it('are seen in the viewer, one picture after the other, in the order of the sheet', async () => {
    const { id } = await made(['a lake', 'x #fail:provider_timeout', 'a river'], 'water');
    await batches.untilEnded(id);
    await visitor.goto(`/batches/${id}`);
    const tiles = page.getByRole('list', { name: 'Items of the batch' }).getByRole('link');
    await tiles.nth(2).locator('img').waitFor();
    await tiles.first().click();
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    await viewer.getByText('1 / 2').waitFor();
    const strip = viewer.getByRole('group', { name: 'Other pictures' });
    await strip.getByRole('button', { name: 'Picture 2' }).click();
    await viewer.getByRole('img', { name: 'a river' }).first().waitFor();
    expect(await axeFaultsInThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
    await tiles.nth(1).click(); // made no picture
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  });

  it('never fall back when a read that is older than an event comes after it', async () => {
    const { id } = await made(['a pear', 'x #hang'], 'slow');
    const sockets: { close(): void }[] = [];
    await page.routeWebSocket('**/graphql', (socket) => {
      socket.connectToServer();
      sockets.push(socket);
    });
    let isOld = false;
    let oldReads = 0;
    await page.route('**/graphql', async (route) => {
      if (!isOld || !route.request().postData()?.includes('query OneBatch')) return route.fallback();
      const answer = await route.fetch();
      const body = (await answer.json()) as { data: { batch: { counts: Record<string, number> } } };
      Object.assign(body.data.batch.counts, { queued: 1, running: 0 });
      await route.fulfill({ response: answer, json: body });
      oldReads += 1;
    });
    await visitor.goto(`/batches/${id}`);
    await page.getByText('1 of 2 items succeeded, 1 running').waitFor();
    await page.evaluate(SEE_TEXTS);
    isOld = true;
    for (const socket of sockets) socket.close(); // then it is read again
    await eventually('an old read', async () => oldReads > 0);
    await batches.cancel(id);
    await page.getByText('1 of 2 items succeeded, 1 cancelled').waitFor();
    const seen = (await page.evaluate('window.seenTexts')) as string[];
    expect(seen.filter((text) => /\bqueued\b/.test(text))).toEqual([]);
    expect(seen).toContainEqual(expect.stringContaining('1 cancelled'));
    await page.unrouteAll();
  });

  it('are read again where upgrades are blocked, until they are gone', async () => {
    const { id } = await made(['a fox', 'x #hang'], 'den');
    await page.routeWebSocket('**/graphql', (socket) => socket.close({ code: 3000 }));
    await visitor.goto('/batches');
    const row = page.getByRole('row', { name: /den/ });
    await row.getByText('1 of 2 items succeeded, 1 running').waitFor();
    await batches.cancel(id);
    await row.getByText('1 of 2 items succeeded, 1 cancelled').waitFor();

    const { id: gone } = await made(['x #hang'], 'lost');
    await visitor.goto(`/batches/${gone}`);
    await page.getByRole('heading', { level: 1, name: 'lost' }).waitFor();
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('query OneBatch')) return route.fallback();
      const errors = [{ message: 'There is no such batch.', extensions: { code: 'batch_not_found' } }];
      return route.fulfill({ json: { errors } });
    });
    await page.getByText('No batch of yours has this id').waitFor();
    await batches.cancel(gone);
  });
});

/** Runs in the page: what it says of the batch from now on. */
const SEE_TEXTS = `(() => {
  window.seenTexts = [];
  new MutationObserver(() => {
    for (const each of document.querySelectorAll('main p')) {
      if (!window.seenTexts.includes(each.textContent)) window.seenTexts.push(each.textContent);
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
})()`;
