import type { Request, Route } from 'playwright-core';
import { newApiKey } from '../../../src/auth/credentials/api-key-format.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { Api } from '../../support/clients/api.ts';
import { eventually, leastOf } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';

/** A session ends everywhere within this time after its key. */
const ENDED_MS = 5_000;

/** All that a script of the page could read. */
const READABLE = `(async () => JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML, location.href, history.state,
  await indexedDB.databases(), await caches.keys(), (await navigator.serviceWorker.getRegistrations()).length,
  performance.getEntries().map(({ name }) => name),
]))()`;

describeInBrowser('signing in to the dashboard', () => {
  let service: OwnService;
  /** The key and the link that the first start prints. */
  let printed: { key: string; link: string };
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startOwnService({ BOOTSTRAP_API_KEY: '', LOG_LEVEL: 'debug' }), launch()]);
    printed = {
      key: /^ +API key +(?<key>\S+)$/m.exec(service.output())?.groups?.['key'] ?? '',
      link: /^ +dashboard +(?<link>\S+)$/m.exec(service.output())?.groups?.['link'] ?? '',
    };
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  beforeEach(async () => {
    visitor = await Visitor.open(browser, service.baseUrl);
  });
  afterEach(async () => {
    await visitor.close();
  });

  const asJson = { 'content-type': 'application/json' };
  const withKey = () => ({ authorization: `Bearer ${printed.key}`, ...asJson });
  async function newKey(scopes: string[] = ['generations:write', 'tasks:read']) {
    const response = await fetch(`${service.baseUrl}/v1/api_keys`, {
      method: 'POST',
      headers: withKey(),
      body: JSON.stringify({ name: 'another', scopes }),
    });
    return (await response.json()) as { id: string; key: string };
  }

  it('takes the printed link once, and leaves no code in the address', async () => {
    await visitor.page.goto(printed.link);
    await visitor.page.getByRole('heading', { name: 'Create' }).waitFor();
    expect(visitor.page.url()).toBe(`${service.baseUrl}/app/create`);

    const second = await Visitor.open(browser, service.baseUrl);
    await second.page.goto(printed.link);
    await second.page.getByText('This link was used already').waitFor();
    expect(second.page.url()).not.toContain('code=');
    await second.close();
    expect(visitor.problems).toEqual([]);
  });

  it('loses no letter that is typed while it signs in', async () => {
    const { page } = visitor;
    await visitor.goto('/sign-in');
    await page.locator('input[name=key]').fill(printed.key);
    await page.keyboard.press('Enter');
    await page.keyboard.type('A grey cat, asleep?', { delay: 15 });
    const prompt = page.locator('textarea[name=prompt]');
    await eventually('all letters are there', async () => (await prompt.inputValue()) === 'A grey cat, asleep?');
    await page.keyboard.type(' Yes');
    expect(await prompt.inputValue()).toBe('A grey cat, asleep? Yes');
    expect(visitor.problems).toEqual([]);
  });

  it('says what is wrong with a key, keeps the text and sets no cookie', async () => {
    await visitor.goto('/');
    const field = visitor.page.locator('input[name=key]');
    await field.fill('dr_short');
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByText('An API key has 49 characters, and this one has 8.').waitFor();
    expect(visitor.requests).not.toContain('POST /v1/session');

    await field.fill(newApiKey());
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByText('No API key of this instance is like this one').waitFor();
    expect(await field.evaluate(HAS_FOCUS)).toBe(true);
    expect(await visitor.context.cookies()).toEqual([]);
  });

  it('keeps the key nowhere that a script can read', async () => {
    const { key } = await newKey();
    const logged: string[] = [];
    visitor.page.on('console', (message) => logged.push(message.text()));
    await visitor.signIn(key);
    await visitor.page.getByRole('link', { name: 'Tasks' }).first().click();
    await visitor.page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
    expect(await visitor.page.evaluate(READABLE)).not.toContain(key);
    const devTools = await visitor.context.newCDPSession(visitor.page);
    const history = await devTools.send('Page.getNavigationHistory');
    expect(history.entries.length).toBeGreaterThan(1);
    expect(JSON.stringify([history, logged])).not.toContain(key);
    expect(service.output()).toContain('"level"');
    expect(service.output()).not.toContain(key);
    const [cookie] = await visitor.context.cookies();
    expect(cookie).toMatchObject({ name: 'darkroom_session', httpOnly: true, sameSite: 'Strict' });
    expect(visitor.problems).toEqual([]);
  });

  it('opens a deep link after signing in', async () => {
    await visitor.goto('/tasks?status=failed');
    await visitor.page.locator('input[name=key]').fill(printed.key);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForURL('**/app/tasks?status=failed');
  });

  it('asks to sign in over the page when the key is revoked elsewhere', async () => {
    const dialog = visitor.page.getByRole('dialog', { name: 'You are signed out' });
    const signedOutAfter = async () => {
      const { id, key } = await newKey();
      await visitor.context.clearCookies();
      await visitor.signIn(key);
      await fetch(`${service.baseUrl}/v1/api_keys/${id}`, {
        method: 'DELETE',
        headers: { authorization: withKey().authorization },
      });
      const revokedAt = performance.now();
      await dialog.waitFor();
      return performance.now() - revokedAt;
    };
    expect(await leastOf(3, ENDED_MS, signedOutAfter)).toBeLessThan(ENDED_MS);
    await dialog.locator('input[name=key]').fill(printed.key);
    await visitor.page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
  });

  /** Ends the session of the browser elsewhere, and signs in over the page. */
  async function signInAgain(key: string, meanwhile?: () => Promise<unknown>) {
    const { page, context } = visitor;
    const dialog = page.getByRole('dialog', { name: 'You are signed out' });
    await context.request.delete(`${service.baseUrl}/v1/session`, { headers: { origin: service.baseUrl } });
    await dialog.waitFor();
    await meanwhile?.();
    await dialog.locator('input[name=key]').fill(key);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
  }
  /** Makes a picture on Create. */
  async function make(text: string) {
    await visitor.page.locator('textarea[name=prompt]').fill(text);
    await visitor.page.keyboard.press('Control+Enter');
    await visitor.page.getByRole('article').first().getByText('Succeeded').waitFor();
  }

  it('leaves the page of a lost session to its key, and shows another key nothing of it', async () => {
    const { page } = visitor;
    const [first, second] = [await newKey(), await newKey()];
    const prompt = page.locator('textarea[name=prompt]');
    const runs = page.getByRole('article');
    await visitor.signIn(first.key);
    await make('Of the first key');
    await prompt.fill('Half a thought');
    await signInAgain(first.key);
    expect(await prompt.inputValue()).toBe('Half a thought');
    expect(await runs.count()).toBe(1);

    await signInAgain(second.key);
    await page.getByText('Describe a picture or a film').waitFor();
    expect(await prompt.inputValue()).toBe('');
    expect(await runs.count()).toBe(0);
    await prompt.fill('Of the second key');
    const draft = JSON.parse(await page.evaluate('sessionStorage.getItem("darkroom.draft")')) as object;
    expect(draft).toMatchObject({ owner: second.id, values: { prompt: 'Of the second key' } });

    const empty = page.getByText('Nothing made yet');
    const tiles = page.locator('[data-file]');
    await visitor.go('/gallery');
    await empty.waitFor();
    await signInAgain(first.key);
    await tiles.waitFor();
    await signInAgain(second.key);
    await empty.waitFor();
    expect(await tiles.count()).toBe(0);
  });

  it('shows what ended while the session was lost', async () => {
    const { page } = visitor;
    const { key } = await newKey(['generations:write', 'tasks:read', 'tasks:cancel']);
    const api = new Api(service.baseUrl, key);
    await visitor.signIn(key);
    await page.locator('textarea[name=prompt]').fill('Ends unseen #hang');
    await page.keyboard.press('Control+Enter');
    const run = page.getByRole('article');
    await run.getByText('Running').waitFor();
    await signInAgain(key, async () => {
      const { body } = await api.get<{ data: { task_id: string }[] }>('/v1/tasks');
      const id = body.data[0]!.task_id;
      await api.call('POST', `/v1/tasks/${id}/cancel`, {});
      await api.untilFinal(id);
      // The session is lost for a minute, which is more than clocks may differ.
      await page.evaluate('Date.now = ((now) => () => now() + 60_000)(Date.now)');
    });
    await run.getByText('Cancelled').first().waitFor();
  });

  it('keeps a run on the table when another key is told that there is no such task', async () => {
    const { page, context } = visitor;
    const [first, second] = [await newKey(), await newKey()];
    const run = page.getByRole('article');
    await visitor.signIn(first.key);
    await make('Read too late');
    // Older than what the feed begins with, so that the page has to read it.
    await queryOnce(
      service.database.url,
      `update tasks_done set completed_at = completed_at - interval '1 minute' where api_key_id = '${first.id}'`,
    );
    const held: Route[] = [];
    const isRead = (request: Request) => request.postData()?.includes('query OneTask') ?? false;
    await page.route('**/graphql', (route) =>
      held.length === 0 && isRead(route.request()) ? void held.push(route) : route.fallback(),
    );
    await page.reload();
    const read = await eventually('the task is read', async () => held[0]);
    const origin = { origin: service.baseUrl };
    await context.request.delete(`${service.baseUrl}/v1/session`, { headers: origin });
    await page.getByRole('dialog', { name: 'You are signed out' }).waitFor();
    await context.request.post(`${service.baseUrl}/v1/session`, { headers: origin, data: { api_key: second.key } });
    const answered = page.waitForResponse((response) => isRead(response.request()));
    await read.continue();
    expect(await (await answered).text()).toContain('task_not_found');
    await signInAgain(first.key);
    await run.getByText('Succeeded').waitFor();
  });

  it('signs out in every tab of the browser', async () => {
    await visitor.signIn(printed.key);
    const other = await visitor.context.newPage();
    await other.goto(`${service.baseUrl}/app/tasks`);
    await other.getByRole('heading', { name: 'Tasks' }).waitFor();
    await visitor.page.getByRole('button', { name: /^Signed in with/ }).click();
    await visitor.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await visitor.page.waitForURL('**/app/sign-in*');
    await other.getByText('You are signed out').waitFor();
    expect(await visitor.context.cookies()).toEqual([]);
  });

  it('stays signed in, and says so, when Sign out gets no answer', async () => {
    const { page } = visitor;
    await visitor.signIn(printed.key);
    await page.route('**/v1/session', (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.fallback(),
    );
    await page.getByRole('button', { name: /^Signed in with/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You are still signed in.').waitFor();
    await page.getByRole('heading', { name: 'Create' }).waitFor();
  });

  it('signs in every tab of the browser, so that none shows one key and acts with the cookie of another', async () => {
    const { page, context } = visitor;
    const [first, second] = [await newKey(), await newKey()];
    await visitor.signIn(first.key);
    await make('Of the key before');
    await page.getByText('Succeeded: Of the key before').waitFor({ state: 'attached' }); // told to screen readers
    const other = await context.newPage();
    await other.goto(`${service.baseUrl}/app/sign-in`);
    await other.locator('input[name=key]').fill(second.key);
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { name: 'Create' }).waitFor();
    await page.getByText('Describe a picture or a film').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    expect(await page.content()).not.toContain('Of the key before');
  });

  it('shows a key without a scope what it lacks, and sends no call that is refused', async () => {
    const { key } = await newKey(['generations:write']);
    await visitor.goto('/sign-in');
    await visitor.page.locator('input[name=key]').fill(key);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForURL('**/app/create');
    const refused: string[] = [];
    visitor.page.on('response', (response) => void (response.status() === 403 && refused.push(response.url())));
    for (const [path, scope] of [
      ['tasks', 'tasks:read'],
      ['gallery', 'tasks:read'],
      ['usage', 'tasks:read'],
      ['keys', 'keys:manage'],
      ['webhooks', 'webhooks:manage'],
      ['queue', 'operations:read'],
      ['providers', 'operations:read'],
    ]) {
      await visitor.goto(`/${path}`);
      await visitor.page
        .locator('main code', { hasText: scope as string })
        .first()
        .waitFor();
    }
    expect(refused).toEqual([]);
    expect(visitor.problems).toEqual([]);
  });

  // The last: afterwards nobody signs in from this address for a minute.
  it('says of a revoked and of an expired key what it is, and counts down after the tenth wrong one', async () => {
    const field = visitor.page.locator('input[name=key]');
    const refused = async (key: string, words: string) => {
      await field.fill(key);
      await visitor.page.keyboard.press('Enter');
      await visitor.page.getByText(words).waitFor();
      expect(await field.evaluate(HAS_FOCUS)).toBe(true);
      expect(await visitor.context.cookies()).toEqual([]);
    };
    const [revoked, expired] = [await newKey(), await newKey()];
    await fetch(`${service.baseUrl}/v1/api_keys/${revoked.id}`, {
      method: 'DELETE',
      headers: { authorization: withKey().authorization },
    });
    await queryOnce(
      service.database.url,
      `update api_keys set expires_at = now() - interval '1 minute' where id = '${expired.id}'`,
    );
    await visitor.goto('/sign-in');
    await refused(revoked.key, 'This API key was revoked. Ask for a new one.');
    await refused(expired.key, 'This API key has expired. Ask for a new one.');
    const headers = { ...asJson, origin: service.baseUrl };
    for (let status = 401; status !== 429;) {
      const body = JSON.stringify({ api_key: newApiKey() });
      ({ status } = await fetch(`${service.baseUrl}/v1/session`, { method: 'POST', headers, body }));
      expect([401, 429]).toContain(status);
    }
    await field.fill(newApiKey());
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByText(/^You can try again in \d+ s/).waitFor();
    expect(await visitor.page.getByRole('button', { name: 'Sign in' }).isDisabled()).toBe(true);
  });
});
