import { readFile } from 'node:fs/promises';
import { Api } from '../../support/clients/api.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { Visitor } from '../../support/browser/visitor.ts';

const SCOPES = [
  'generations:write',
  'tasks:read',
  'tasks:cancel',
  'webhooks:manage',
  'keys:manage',
  'operations:read',
  'operations:manage',
];
const SCREENS = [
  '/tasks',
  '/gallery',
  '/batches',
  '/connect',
  '/keys',
  '/webhooks',
  '/queue',
  '/providers',
  '/usage',
  '/settings',
  '/usage?by=key',
  '/settings/about',
  '/create',
];

describeInBrowser('operating on the dashboard', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    const named = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: '=HYPERLINK("x")' });
    const other = new Api(service.baseUrl, named.body.key);
    const ids = await Promise.all([
      service.api.create({ model: 'gpt-image-2', prompt: 'a boat', metadata: { order: '1042' } }),
      service.api.create({ model: 'gpt-image-2', prompt: 'x #fail:provider_timeout', metadata: { order: '1043' } }),
      service.api.create({ model: 'gpt-image-2', prompt: 'x #fail:provider_unavailable' }),
      other.create({ model: 'gpt-image-2', prompt: 'of another key' }),
    ]);
    for (const [nth, { body }] of ids.entries()) await (nth === 3 ? other : service.api).untilFinal(body.task_id);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await visitor.close();
    await browser.close();
    expect(problems).toEqual([]);
  });

  it('shows the usage that REST shows, by model, error and key, and no CSV cell is a formula', async () => {
    const { page } = visitor;
    await visitor.goto('/usage?by=error&view=table');
    const errors = page.getByRole('region', { name: 'Failures by error' });
    await errors.getByText('provider_timeout').waitFor();
    expect(await errors.getByRole('row').count()).toBe(3);
    const since = Math.floor(Date.now() / 1_000) - 24 * 3_600;
    const { body } = await service.api.get<{ totals: Record<string, number> }>(
      `/v1/usage?start_time=${since}&bucket_width=all`,
    );
    expect(body.totals).toMatchObject({ tasks: 3, failed: 2 });
    await page.getByText('Tasks', { exact: true }).locator('xpath=following-sibling::dd').getByText('3').waitFor();

    await page.getByRole('radiogroup', { name: 'Group by' }).getByText('Key').click();
    await page.getByText('=HYPERLINK("x")').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const csv = await readFile(await download.path(), 'utf8');
    expect(csv).toContain(`"'=HYPERLINK(""x"")",1,0,0,1,0,`);
    for (const line of csv.split('\r\n').slice(1)) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z,/);

    await page.goBack();
    await errors
      .getByRole('row', { name: /provider_timeout/ })
      .getByRole('link')
      .click();
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
    expect(new URL(page.url()).search).toContain('error=provider_timeout');
  });

  it('has in its CSV, hour by hour, what REST says of each hour', async () => {
    const { page } = visitor;
    // All ended in this hour: copies that ended in earlier ones.
    await queryOnce(
      service.database.url,
      `insert into usage_ledger
       select copy.* from usage_ledger made, generate_series(1, 3) n,
         lateral jsonb_populate_record(made, jsonb_build_object(
           'task_id', made.task_id || n, 'rolled_up', false, 'completed_at', made.completed_at - n * interval '5 hours')) copy
       where made.api_key_id = '${service.keyId}' and (n <> 2 or made.outcome = 'succeeded')`,
    );
    await visitor.goto('/usage');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const [head, ...lines] = (await readFile(await download.path(), 'utf8'))
      .split('\r\n')
      .map((line) => line.split(','));
    expect(head?.slice(0, 6)).toEqual(['from', 'model', 'succeeded', 'failed', 'cancelled', 'images']);
    const since = Math.floor(Date.now() / 3_600_000) * 3_600 - 23 * 3_600;
    const { body } = await service.api.get<{
      data: { start_time: number; results: { model: string; [figure: string]: string | number }[] }[];
    }>(`/v1/usage?start_time=${since}&bucket_width=1h&group_by=model&limit=24`);
    const hours = body.data.flatMap(({ start_time: at, results }) =>
      results.map(({ model, succeeded, failed, cancelled, images }) =>
        [new Date(at * 1_000).toISOString(), model, succeeded, failed, cancelled, images].map(String),
      ),
    );
    expect(lines.map((line) => line.slice(0, 6))).toEqual(hours);
    expect(hours.map(([, ...figures]) => figures.join(' '))).toEqual([
      'gpt-image-2 1 2 0 1',
      'gpt-image-2 1 0 0 1',
      'gpt-image-2 1 2 0 1',
      'gpt-image-2 1 2 0 1',
    ]);
  });

  it('filters tasks by error and metadata; address, reload, Back and Forward agree', async () => {
    const { page } = visitor;
    const shows = async (count: number) => {
      await eventually(`${count} tasks`, async () => (await page.getByRole('row').count()) === count);
    };
    await visitor.goto('/tasks');
    await shows(3);
    await page.getByRole('button', { name: /^Filter/ }).click();
    await page.getByLabel('Error', { exact: true }).selectOption('provider_timeout');
    await shows(1);
    await page.getByLabel('Error', { exact: true }).selectOption('');
    await shows(3);
    await page.getByRole('button', { name: 'Metadata' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('order');
    await dialog.getByLabel('Value').fill('1042');
    await dialog.getByRole('button', { name: 'Show them' }).click();
    await shows(1);
    expect(new URL(page.url()).search).toBe('?meta.order=1042');
    await page.reload();
    await shows(1);
    await page.goBack();
    await shows(3);
    await page.goForward();
    await shows(1);

    // A new task enters the list only if it carries the pair, which the feed does not tell.
    await service.api.create({ model: 'gpt-image-2', prompt: 'another order', metadata: { order: '7' } });
    await service.api.create({ model: 'gpt-image-2', prompt: 'the same order', metadata: { order: '1042' } });
    await page.getByRole('button', { name: /^1 new task/ }).click();
    await shows(2);
    await page.getByRole('button', { name: /^order = 1042/ }).click();
    await shows(5);
    await page.getByRole('row').last().getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Run 1 again' }).click();
    await page.getByText('1 task sent again.').waitFor();
  });

  it('pauses a model with a reason, says who did so, and resumes it', async () => {
    const { page } = visitor;
    const paused = async () =>
      (await service.api.get<{ data: { model: string; reason: string }[] }>('/v1/operations/pauses')).body.data;
    await visitor.goto('/providers');
    const models = page.getByRole('region', { name: 'Health of the models' });
    await models.getByRole('button', { name: 'Pause sora-2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pause sora-2?' });
    await dialog.getByLabel('Why').fill('Its bill is too high');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await models.getByText('Paused: Its bill is too high').waitFor();
    expect(await paused()).toMatchObject([{ model: 'sora-2', reason: 'Its bill is too high' }]);
    const acts = page.getByRole('region', { name: 'Who did what' });
    await acts.getByRole('row', { name: /^pause created sora-2 Its bill is too high/ }).waitFor();

    await models.getByRole('button', { name: 'Resume sora-2' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('It is paid');
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await models.getByRole('button', { name: 'Pause sora-2' }).waitFor();
    expect(await paused()).toEqual([]);
    await acts.getByRole('row', { name: /^pause ended sora-2 It is paid/ }).waitFor();

    // A circuit that another process has opened.
    await queryOnce(
      service.database.url,
      `insert into processes
       select copy.* from processes made, lateral jsonb_populate_record(made, jsonb_build_object(
         'id', 'another', 'last_seen_at', now() + interval '1 hour',
         'circuits', jsonb_set(made.circuits, '{0,open}', 'true'))) copy limit 1`,
    );
    try {
      await page.getByRole('button', { name: 'Close the circuit of sandbox' }).click();
      await page.getByRole('dialog').getByLabel('Why').fill('It is back');
      await page.getByRole('dialog').getByRole('button', { name: 'Close circuit' }).click();
      await acts.getByRole('row', { name: /^circuit reset sandbox It is back/ }).waitFor();
    } finally {
      await queryOnce(service.database.url, `delete from processes where id = 'another'`);
    }
  });

  it('says of an act on many tasks which ones it was about', async () => {
    const { page } = visitor;
    const filter = { model: 'sora-2', state: 'waiting' };
    await service.api.call('POST', '/v1/operations/tasks/cancel', { filter, reason: 'All of them' });
    await visitor.goto('/providers');
    const acts = page.getByRole('region', { name: 'Who did what' });
    await acts.getByRole('row', { name: /^tasks cancelled tasks with model sora-2, state waiting/ }).waitFor();
  });

  it('finds the acts of operators among those of makers on the server, page by page', async () => {
    const { page } = visitor;
    const reason = 'Of the first page';
    const { body } = await service.api.call<{ id: string }>('POST', '/v1/operations/pauses', {
      model: 'sora-2',
      reason,
    });
    await service.api.call('DELETE', `/v1/operations/pauses/${body.id}`);
    // More than the screen reads at once, and all of them newer.
    await queryOnce(
      service.database.url,
      `insert into audit_events (id, action, actor_type, target_type, target_id)
       select 'aud_7' || lpad(n::text, 25, '0'), 'task.kept', 'api_key', 'task', 'task_' || n from generate_series(1, 130) n`,
    );
    try {
      await visitor.goto('/providers');
      const acts = page.getByRole('region', { name: 'Who did what' });
      await acts.getByRole('row', { name: /^pause created sora-2 Of the first page/ }).waitFor();
      const kept = acts.getByRole('row', { name: /^task kept/ });
      expect(await kept.count()).toBe(0);

      await page.getByText('Kept and shared too').click();
      const pages = page.getByRole('navigation', { name: 'Pages of acts' });
      await eventually('a page of kept ones', async () => (await kept.count()) === 20);
      const turn = async (name: string, first: string) => {
        await pages.getByRole('button', { name }).click();
        await acts.getByRole('row').nth(1).getByText(first, { exact: true }).waitFor();
      };
      for (const first of ['task_110', 'task_90', 'task_70', 'task_50', 'task_30', 'task_10'])
        await turn('Older', first);
      await acts.getByRole('row', { name: /^pause created sora-2 Of the first page/ }).waitFor();
      await turn('Newer', 'task_30');
      await page.getByText('Kept and shared too').click();
      await acts
        .getByRole('row', { name: /^pause ended/ })
        .first()
        .waitFor();
      expect(await kept.count()).toBe(0);
    } finally {
      await queryOnce(service.database.url, `delete from audit_events where id like 'aud_7%'`);
    }
  });

  it('shows the queue of the last hour, and says of a minute without a sample that it is not known', async () => {
    const { page } = visitor;
    const minute = `date_trunc('minute', now()) - interval`;
    await queryOnce(service.database.url, `delete from queue_samples where minute < ${minute} '9 minutes'`);
    await queryOnce(service.database.url, `insert into queue_samples values (${minute} '30 minutes', 17, 4, 2)`);
    await visitor.goto('/queue');
    const queued = page.getByRole('figure', { name: /^Queued/ });
    const columns = queued.locator('[data-column]');
    await eventually('an hour', async () => (await columns.count()) === 60);
    // A minute may have passed since.
    const words = [];
    for (const nth of [27, 28, 29, 30, 31]) {
      await columns.nth(nth).hover();
      words.push(await queued.locator('figcaption').textContent());
    }
    expect(words.filter((text) => text?.includes('17 waiting, 4 at the limit of their key'))).toHaveLength(1);
    expect(words.filter((text) => text?.includes('not known'))).toHaveLength(4);
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('query QueueHistory')) return route.fallback();
      const errors = [{ message: 'The database is away.', extensions: { code: 'service_unavailable' } }];
      return route.fulfill({ json: { errors } });
    });
    await page.reload();
    await page.getByRole('alert').getByText('The database is away.').waitFor();
    await page.unroute('**/graphql');
  });

  it('drains a process and resumes it, releases its tasks, and cancels what a model has unfinished', async () => {
    const { page } = visitor;
    const { body: task } = await service.api.create({ model: 'nano-banana-pro', prompt: 'x #hang' });
    await service.api.until(task.task_id, 'running');
    await visitor.goto('/queue');
    const processes = page.getByRole('region', { name: 'Processes' });
    await processes
      .getByRole('button', { name: /^Drain/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill('It is replaced');
    await dialog.getByRole('button', { name: 'Drain' }).click();
    await processes.getByText('draining').waitFor();
    await processes.getByRole('button', { name: /^Resume/ }).click();
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await processes.getByText('live').first().waitFor();
    await processes
      .getByRole('button', { name: /^Release the tasks of/ })
      .first()
      .click();
    await dialog.getByRole('button', { name: 'Release tasks' }).click();
    await page.getByText(/^[1-9]\d* tasks? released\.$/).waitFor();
    await page.getByRole('button', { name: 'Cancel the tasks of nano-banana-pro' }).click();
    await page.getByRole('dialog', { name: 'Cancel the unfinished tasks of nano-banana-pro?' }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel tasks' }).click();
    await page.getByText('1 task cancelled.').waitFor();
    expect((await service.api.untilFinal(task.task_id)).error?.code).toBe('task_cancelled');
  });

  it('draws tasks and cost over time with an axis, and how much of its budget a key has spent', async () => {
    const { page } = visitor;
    const limits = { budget: { amount_micros: 2_000_000, period: 'month' } };
    await service.api.call('POST', '/v1/api_keys', { name: 'old shop', limits });
    for (let nth = 0; nth < 100; nth++) await service.api.call('POST', '/v1/api_keys', { name: `filler ${nth}` });
    await service.api.call('POST', '/v1/api_keys', { name: 'shop', limits });
    await visitor.goto('/usage?by=key');
    const tasks = page.getByRole('figure', { name: /^Tasks/ });
    await tasks.locator('[data-column]').last().hover();
    expect(await tasks.locator('figcaption').textContent()).toMatch(
      /\d\d:00: \d+ succeeded, \d+ failed, \d+ cancelled$/,
    );
    await page.getByRole('figure', { name: /^Cost/ }).getByText('USD 0.00').first().waitFor();
    const meter = page.getByRole('meter', { name: 'Budget of shop' });
    expect(await meter.getAttribute('aria-valuetext')).toMatch(/^USD\s0\.00 of USD\s2\.00 a month$/);
    await page.getByRole('navigation', { name: 'Pages of budgets' }).getByRole('button', { name: 'Older' }).click();
    await page.getByRole('meter', { name: 'Budget of old shop' }).waitFor();
    expect(await meter.count()).toBe(0);
    await visitor.goto('/keys');
    await page.getByRole('navigation', { name: 'Pages of API keys' }).getByRole('button', { name: 'Older' }).click();
    await page.getByRole('link', { name: 'old shop' }).waitFor();
    await visitor.goto('/usage?by=model');
    await tasks.waitFor();
    expect(await meter.count()).toBe(0);
  });

  it('shows a key of each single scope what it lacks, and sends no call that is refused', async () => {
    const refused: string[] = [];
    for (const scope of SCOPES) {
      const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
        name: scope,
        scopes: [scope],
      });
      const limited = await Visitor.open(browser, service.baseUrl);
      const { page } = limited;
      page.on(
        'response',
        (response) => void (response.status() === 403 && refused.push(`${scope}: ${response.url()}`)),
      );
      await limited.goto('/sign-in');
      await page.locator('input[name=key]').fill(body.key);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/app/create');
      await page.getByRole('heading', { level: 1 }).waitFor();
      for (const path of SCREENS) {
        await limited.go(path);
        await page.locator('[aria-busy]').waitFor({ state: 'detached' });
        // GraphQL answers a lacking scope with 200 and an error, which a screen shows as a panel.
        if ((await page.getByText('insufficient_scope').count()) > 0) refused.push(`${scope}: ${path}`);
      }
      expect(limited.problems).toEqual([]);
      await limited.close();
    }
    expect(refused).toEqual([]);
  });
});
