// Own settings: what has failed is not tried again while a test looks at it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { say } from '../deploy/tools.ts';
import { Api } from '../../support/clients/api.ts';
import { freePort } from '../../support/free-port.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { Receiver, verified } from '../../support/servers/receiver.ts';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { Visitor } from '../../support/browser/visitor.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const RECEIVERS = [
  { language: 'TypeScript', file: 'receiver.mts' },
  { language: 'Python', file: 'receiver.py' },
];
const PIP_MS = 60_000;

const run = promisify(execFile);

/** The Python of an environment in this folder that has what the receiver imports; null where it cannot be made. */
async function pythonIn(folder: string): Promise<string | null> {
  const python = join(folder, 'python/bin/python3');
  try {
    await run('python3', ['-m', 'venv', join(folder, 'python')], { timeout: PIP_MS });
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'standardwebhooks'], {
      timeout: PIP_MS,
    });
    return python;
  } catch (error) {
    say(`SKIPPED the receiver in Python: it needs python3-venv and PyPI (${String(error).split('\n')[0] ?? ''})`);
    return null;
  }
}

const NASTY = `<img src=x onerror=alert(1)> "'\`\${7*7}{{7*7}} javascript:alert(2) \u202Eevil <svg onload=alert(3)>`;

describeInBrowser('connecting an app on the dashboard', () => {
  let service: OwnService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  const receivers: Receiver[] = [];

  beforeAll(async () => {
    [service, browser] = await Promise.all([startOwnService({ WEBHOOK_RETRY_SCHEDULE: '600' }), launch()]);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await visitor.close();
    await browser.close();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    await service.close();
    expect(problems).toEqual([]);
  });

  const button = (name: string | RegExp) => visitor.page.getByRole('button', { name });
  /** What is in sight of an event: its attempts are folded. */
  const summaries = () => visitor.page.locator('summary');
  const dialog = () => visitor.page.getByRole('dialog');
  const receive = async (answer?: Receiver['answer']) => {
    const receiver = await Receiver.start(answer);
    receivers.push(receiver);
    return receiver;
  };
  const secretOnce = async () => {
    await dialog().getByLabel('I have saved it').waitFor();
    const secret = await dialog().getByRole('region', { name: 'The secret' }).textContent();
    await dialog().getByLabel('I have saved it').check();
    await dialog().getByRole('button', { name: 'Done' }).click();
    return secret ?? '';
  };

  it('has a button that can be read where there is no endpoint yet', async () => {
    await visitor.goto('/webhooks');
    await button('New endpoint').waitFor();
    const colours = await button('New endpoint').evaluate((element) => {
      const { getComputedStyle: style } = globalThis as unknown as { getComputedStyle(of: unknown): { color: string } };
      const icon = (element as unknown as { querySelector(of: string): unknown }).querySelector('svg');
      return [style(element).color, style(icon).color];
    });
    expect(colours[1]).toBe(colours[0]);
  });

  it('says why a webhook did not arrive, live, and sends it again', async () => {
    const { page } = visitor;
    const [receiver, other] = [await receive(), await receive()];
    const beside = await service.api.call<{ id: string }>('POST', '/v1/webhook_endpoints', { url: other.url });
    await visitor.goto('/webhooks/new');
    await dialog().getByLabel('URL').fill(receiver.url);
    await dialog().getByLabel('Description').fill(NASTY);
    await dialog().getByRole('button', { name: 'Create endpoint' }).click();
    const secret = await secretOnce();
    await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor();
    await page.getByText(NASTY).waitFor();
    await page.reload();
    await page.getByText(NASTY).waitFor();
    expect(await page.content()).not.toContain(secret);

    await button('Send test').dblclick({ delay: 60 }); // one press: the next events below are counted
    const [test] = await receiver.until(1);
    verified(test!, secret);
    await summaries()
      .getByText(/^200 in \d+ ms$/)
      .waitFor(); // by the socket: nobody reloads

    receiver.answer = (_received, response) => void response.writeHead(500).end('broken');
    const { task_id } = (await service.api.create({ model: 'gpt-image-2', prompt: 'x #fail:provider_timeout' })).body;
    await summaries()
      .getByText(/next in \d+ /)
      .waitFor();
    const [before, after] = await ticks(() =>
      summaries()
        .getByText(/next in/)
        .textContent(),
    );
    expect(after).not.toBe(before);
    await page.getByText(/Failing since .+, 1 event waits$/).waitFor();

    await summaries()
      .getByText(/^500 in \d+ ms$/)
      .click();
    const request = page.getByRole('region', { name: 'Request headers of try 1' });
    await request.getByText(/webhook-id: evt_/).waitFor();
    expect(await request.textContent()).not.toContain('webhook-signature');
    const response = page.getByRole('region', { name: 'Response of try 1' });
    await response.getByText(/^500 in \d+ ms$/).waitFor();
    await page.getByRole('link', { name: 'Open the event' }).click();
    await page.getByRole('heading', { level: 1, name: 'task.failed' }).waitFor();
    expect(await page.getByRole('region', { name: 'Body of the event' }).textContent()).toContain(task_id);
    // The service keeps no answers of its own network, where these receivers are.
    await page.getByText('only OUTBOUND_ALLOW_CIDRS allows this address', { exact: false }).first().waitFor();
    await queryOnce(
      service.database.url,
      `update webhook_deliveries set response_snippet = 'it is broken' where status_code = 500 and endpoint_id = '${endpointOf(page.url())}'`,
    );
    await page.reload();
    await response.getByText('it is broken').first().waitFor();
    await queryOnce(
      service.database.url,
      `update webhook_deliveries set response_snippet = '' where response_snippet = 'it is broken'`,
    );
    await page.reload();
    await response.getByText('Its body was empty.').first().waitFor();
    await other.until(1); // the other endpoint has got the event
    await button('Resend').click();
    const failed = page.getByRole('status', { name: 'Reports' }).locator('[class*="_bad_"]');
    await failed.getByText(/^Sent again: 500 in \d+ ms\.$/).waitFor();
    await visitor.go('/webhooks');
    const failing = page.getByRole('row').filter({ hasText: receiver.url });
    await failing.getByText(/Failing since \d\d:\d\d$/).waitFor();
    await failing.getByText(/^500, /).waitFor();
    expect(await failing.locator('[data-label="Waiting"]').textContent()).toMatch(/^[1-9]/);
    await failing.getByRole('img', { name: 'Attempts in 24 h: 0 accepted, 2 refused' }).waitFor();
    await page.getByRole('row').filter({ hasText: other.url }).getByText('Healthy').waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'task.failed' }).waitFor();

    receiver.answer = (_received, response) => void response.writeHead(200).end('ok');
    await button('Resend').click();
    await page.getByRole('heading', { name: /200 in \d+ ms/ }).waitFor();
    const sent = (await receiver.until(4)).slice(1);
    expect(new Set(sent.map(({ event }) => event.id)).size).toBe(1);
    expect(other.received).toHaveLength(1); // what was sent again went to one endpoint alone
    await service.api.call('DELETE', `/v1/webhook_endpoints/${beside.body.id}`);
  });

  it('shows receivers that run as shown: they take what is signed, and nothing else', async () => {
    const { page } = visitor;
    const { body: unused } = await service.api.call<{ id: string }>('POST', '/v1/webhook_endpoints', {
      url: 'http://127.0.0.1:9/hooks',
    });
    await visitor.goto(`/webhooks/${unused.id}`);
    await page.getByText('Verify the signature in your receiver').click();
    await service.api.call('DELETE', `/v1/webhook_endpoints/${unused.id}`);
    const folder = await mkdtemp(join(ROOT, 'coverage-receivers-')); // where Node finds the packages
    const programs: ChildProcess[] = [];
    try {
      for (const { language, file } of RECEIVERS) {
        const program = language === 'Python' ? await pythonIn(folder) : process.execPath;
        if (!program) continue;
        await page.getByRole('radiogroup', { name: 'Language' }).getByText(language, { exact: true }).click();
        const code = await page.getByRole('region', { name: `Receiver in ${language}` }).textContent();
        const port = String(await freePort());
        expect(code).toContain('4000');
        await writeFile(join(folder, file), (code ?? '').replace('4000', port));
        const url = `http://127.0.0.1:${port}/`;
        const made = await service.api.call<{ id: string; secret: string }>('POST', '/v1/webhook_endpoints', { url });
        const receiver = spawn(program, [file], {
          cwd: folder,
          env: { ...process.env, DARKROOM_WEBHOOK_SECRET: made.body.secret },
        });
        programs.push(receiver);
        let printed = '';
        receiver.stdout.on('data', (text: Buffer) => (printed += text.toString()));
        const forged = { method: 'POST', body: '{"type":"task.completed","data":{"task_id":"task_forged"}}' };
        const answer = await eventually(`the receiver in ${language}`, () => fetch(url, forged).catch(() => null));
        expect({ language, status: answer.status }).toEqual({ language, status: 400 });
        const { task_id: id } = (await service.api.create({ model: 'gpt-image-2', prompt: 'x #fail:provider_timeout' }))
          .body;
        await eventually(`${language} prints the event`, async () => printed.includes(`task.failed ${id}`));
        expect(printed).not.toContain('task_forged');
        await service.api.call('DELETE', `/v1/webhook_endpoints/${made.body.id}`);
      }
    } finally {
      for (const program of programs) program.kill();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('filters the log by its address, which Back and a reload agree with; recovers; says why a 410 disabled it', async () => {
    const { page } = visitor;
    const receiver = await receive((_received, response) => void response.writeHead(503).end());
    const made = await service.api.call<{ id: string }>('POST', '/v1/webhook_endpoints', { url: receiver.url });
    await service.api.create({ model: 'gpt-image-2', prompt: 'x #fail:provider_timeout' });
    await service.api.create({ model: 'gpt-image-2', prompt: 'a boat' });
    await receiver.until(2);
    await visitor.goto(`/webhooks/${made.body.id}`);
    const rows = () => page.getByRole('button', { name: 'Resend' });
    await eventually('both events', async () => (await rows().count()) === 2);
    await page.getByLabel('Event', { exact: true }).selectOption('task.failed');
    await eventually('one event', async () => (await rows().count()) === 1);
    await page.getByRole('radiogroup', { name: 'Outcome' }).getByText('Delivered').click();
    await page.getByText('No attempt matches these filters').waitFor();
    await page.reload();
    await page.getByText('No attempt matches these filters').waitFor();
    expect(new URL(page.url()).search).toBe('?event=task.failed&outcome=delivered');
    await page.goBack();
    await eventually('one event again', async () => (await rows().count()) === 1);
    await button('Clear').click();
    await eventually('both events again', async () => (await rows().count()) === 2);

    receiver.answer = (_received, response) => void response.writeHead(410).end();
    await button('Recover').click();
    await dialog().getByRole('button', { name: 'Send 2 events again' }).click();
    await page.getByText('disabled: it answered 410').waitFor();
    await button('Enable again').waitFor();
  });

  it('hands out a key with scopes and limits, changes, renews and revokes it', async () => {
    const { page } = visitor;
    await visitor.goto('/keys');
    await button('New key').click();
    await dialog().getByLabel('Name').fill(NASTY);
    await dialog()
      .getByLabel(/tasks:cancel/)
      .uncheck();
    await dialog().getByText('Limits and budget').click();
    await dialog().getByLabel('Running at once').fill('2');
    await dialog().getByLabel('Budget', { exact: true }).fill('0.5');
    await dialog().getByRole('button', { name: 'Create key' }).click();
    const secret = await secretOnce();
    expect(new URL(page.url()).pathname).toBe('/app/keys');
    await page.getByRole('link', { name: NASTY }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText(/0\.50 a month: /).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const read = async () =>
      (await service.api.get<{ limits: Record<string, number>; scopes: string[]; name: string }>(`/v1/api_keys/${id}`))
        .body;
    expect(await read()).toMatchObject({ name: NASTY, scopes: ['generations:write', 'tasks:read'] });
    expect((await read()).limits).toMatchObject({
      max_running: 2,
      budget: { amount_micros: 500_000, period: 'month' },
    });
    expect((await new Api(service.baseUrl, secret).get('/v1/tasks')).status).toBe(200);

    await button('Edit').click();
    await dialog().getByLabel('Name').fill('=shop()');
    await dialog().getByLabel('Running at once').fill('5');
    await dialog().getByLabel('Budget', { exact: true }).fill('');
    await dialog().getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { level: 1, name: '=shop()' }).waitFor();
    expect((await read()).limits).toMatchObject({ max_running: 5, budget: null });

    await button('Rotate').click();
    await dialog().getByText('1 h', { exact: true }).click();
    await dialog().getByRole('button', { name: 'Rotate key' }).click();
    const renewed = await secretOnce();
    for (const key of [secret, renewed])
      expect((await new Api(service.baseUrl, key).get('/v1/tasks')).status).toBe(200);

    await button('Revoke').click();
    await dialog()
      .getByLabel(/to confirm$/)
      .fill('=shop()');
    await dialog().getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expect((await new Api(service.baseUrl, renewed).get('/v1/tasks')).status).toBe(401);
  });

  it('lets nobody grant more than they have', async () => {
    const limited = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'a manager',
      scopes: ['keys:manage', 'tasks:read'],
    });
    const other = await Visitor.open(browser, service.baseUrl);
    await other.goto('/sign-in?next=/keys/new');
    await other.page.locator('input[name=key]').fill(limited.body.key);
    await other.page.keyboard.press('Enter');
    const form = other.page.getByRole('dialog', { name: 'New API key' });
    await form.waitFor();
    expect(await form.getByLabel(/webhooks:manage/).isDisabled()).toBe(true);
    expect(await form.getByLabel(/tasks:read/).isDisabled()).toBe(false);
    expect(other.problems).toEqual([]);
    await other.close();
  });
});

/** The endpoint in the address of an event. */
const endpointOf = (url: string): string => /we_[0-9a-z]+/.exec(url)?.[0] ?? '';

/** What a text reads now, and after more than a second. */
async function ticks(read: () => Promise<string | null>): Promise<(string | null)[]> {
  const before = await read();
  const after = await eventually('the countdown to tick', async () => {
    const now = await read();
    return now !== before && now;
  });
  return [before, after];
}
