import { Api } from '../../support/clients/api.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { Visitor } from '../../support/browser/visitor.ts';

/** Stands first, so that a shortened text still shows it. */
const MARK = '<b>mark</b>';
const NASTY = [
  MARK,
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  `'><svg onload=alert(3)><animate onbegin=alert(4)>`,
  '<a href="javascript:alert(5)">x</a> javascript:alert(6)',
  '<iframe srcdoc="<script>alert(7)</script>"></iframe>',
  '<base href="https://evil.example/"><link rel=stylesheet href="//evil.example/a.css">',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '</textarea></title></style></script>',
  '{{7*7}} ${7*7} #{7*7} <%= 7*7 %> {{constructor.constructor("alert(8)")()}}',
  '__proto__ constructor undefined null NaN ../../etc/passwd %00 %s %n',
  `' OR 1=1; DROP TABLE tasks; --`,
  '\u202Elive\u202C \u2066a\u2069 \u200B\uFEFF Z\u0351\u036B\u0343a\u036Dlgo \u{1F468}\u200D\u{1F469}\u200D\u{1F467} \uFDFD',
].join(' ');
const MAX_PROMPT = 32_000;

/** What only markup could have made. */
const MADE_BY_TEXT = `[...document.querySelectorAll('script:not([src]), iframe, base, b, animate, meta[http-equiv=refresh], [onerror], [onload], [srcdoc], a[href^="javascript:" i]')].map((each) => each.outerHTML.slice(0, 120))`;
/** All that a reader sees or hears. */
const READ = `document.body.innerText + [...document.querySelectorAll('[alt], [title], [aria-label]')].map((each) => each.alt + each.title + each.ariaLabel).join(' ') + [...document.querySelectorAll('textarea, input')].map((each) => each.value).join(' ')`;

describeInBrowser('hostile texts on the dashboard', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let receiver: Receiver;
  const ids = { task: '', failed: '', file: '', endpoint: '', event: '', key: '' };

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    receiver = await Receiver.start((_received, response) => {
      response.writeHead(500, { 'content-type': 'text/html' }).end(NASTY);
    });
    const made = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
      name: NASTY.slice(0, 100),
      scopes: ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage', 'keys:manage', 'operations:read'],
    });
    ids.key = made.body.id;
    const api = new Api(service.baseUrl, made.body.key);
    const endpoint = await api.call<{ id: string }>('POST', '/v1/webhook_endpoints', {
      url: `${receiver.url}?${MARK}&q=javascript:alert(9)&<script>alert(10)</script>`,
      description: NASTY.slice(0, 200),
    });
    ids.endpoint = endpoint.body.id;
    const metadata = { [`${MARK}<img src=x onerror=alert(11)>`.slice(0, 60)]: NASTY.slice(0, 500) };
    const prompt = NASTY.padEnd(MAX_PROMPT, ' long');
    const task = await api.create({ model: 'gpt-image-2', prompt, metadata });
    const failed = await api.create({ model: 'gpt-image-2', prompt: `${NASTY} #fail:provider_timeout`, metadata });
    await api.untilFinal(failed.body.task_id);
    const { result } = await api.untilFinal(task.body.task_id);
    Object.assign(ids, { task: task.body.task_id, failed: failed.body.task_id, file: result?.outputs[0]?.id });
    await receiver.until(2);
    ids.event = await eventually('an attempt', async () => {
      const { body } = await api.get<{ data: { event_id: string; status_code: number | null }[] }>(
        `/v1/webhook_endpoints/${ids.endpoint}/deliveries`,
      );
      return body.data.find(({ status_code: code }) => code === 500)?.event_id;
    });
    // The service keeps no answers of its own network, where this receiver is.
    await queryOnce(
      service.database.url,
      `update webhook_deliveries set response_snippet = '${NASTY.replaceAll("'", "''")}' where endpoint_id = '${ids.endpoint}' and status_code = 500`,
    );
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.page.addInitScript(
      `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))`,
    );
    await visitor.enter(made.body.key);
  });
  afterAll(async () => {
    await browser.close();
    await receiver.stop();
  });
  afterEach(() => {
    // Of a task that no address names.
    expect(visitor.problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  it('stay texts on every screen that shows them', async () => {
    const { page } = visitor;
    const screens: [path: string, act?: () => Promise<unknown>][] = [
      [`/create?from=${ids.task}&as=edit`],
      ['/tasks'],
      [`/tasks?peek=${ids.task}`],
      [`/tasks?q=${encodeURIComponent(NASTY)}`],
      [`/tasks?meta.${encodeURIComponent(MARK)}=${encodeURIComponent(NASTY.slice(0, 300))}`],
      ...['outputs', 'input', 'deliveries', 'code', 'json'].map((tab): [string] => [`/tasks/${ids.task}?tab=${tab}`]),
      [`/tasks/${ids.failed}`],
      [`/compare?tasks=${ids.task},${ids.failed}`],
      ['/gallery'],
      [`/gallery?q=${encodeURIComponent(NASTY)}&model=${encodeURIComponent(MARK)}`],
      [`/gallery/${ids.file}`],
      ['/keys'],
      [`/keys/${ids.key}`, () => page.getByRole('button', { name: 'Revoke' }).click()],
      ['/webhooks'],
      [`/webhooks/${ids.endpoint}`, () => page.locator('summary', { hasText: '500' }).first().click()],
      [`/webhooks/${ids.endpoint}/events/${ids.event}`],
      ['/queue'],
      ['/usage?by=key&view=table'],
    ];
    for (const [path, act] of screens) {
      await visitor.goto(path);
      await page.locator('main h1, [role=dialog]').first().waitFor();
      await page.locator('[aria-busy]').waitFor({ state: 'detached' });
      await act?.();
      await eventually(`${path} shows the text`, async () => String(await page.evaluate(READ)).includes(MARK), 20_000);
      expect({ path, made: await page.evaluate(MADE_BY_TEXT) }).toEqual({ path, made: [] });
      expect({ path, tooWide: await page.evaluate('document.documentElement.scrollWidth > innerWidth') }).toEqual({
        path,
        tooWide: false,
      });
    }
  });

  it('show the body of an answer and of an event as it is', async () => {
    const { page } = visitor;
    await visitor.goto(`/webhooks/${ids.endpoint}/events/${ids.event}`);
    await page
      .getByRole('region', { name: /^Response of try/ })
      .getByText('<script>alert(1)</script>')
      .first()
      .waitFor();
    await page.getByRole('region', { name: 'Body of the event' }).getByText(MARK).first().waitFor();
  });

  it('stay texts while one types them, and in what the form sends', async () => {
    const { page } = visitor;
    await visitor.goto('/create');
    await page.locator('textarea[name=prompt]').fill(NASTY);
    await visitor.openDrawer('Code');
    for (const language of ['cURL', 'TypeScript', 'Python', 'GraphQL', 'JSON']) {
      await page.getByRole('radiogroup', { name: 'Language' }).getByText(language, { exact: true }).click();
      await page
        .getByRole('region', { name: /^The request in/ })
        .getByText(MARK)
        .waitFor();
    }
    await page.keyboard.press('Control+Enter');
    const card = page.getByRole('article').first();
    await card.getByText('Succeeded').waitFor();
    expect(await card.locator('bdi').first().textContent()).toBe(NASTY);
    expect(await page.evaluate(MADE_BY_TEXT)).toEqual([]);
  });

  it('lead nowhere from an address', async () => {
    const { page } = visitor;
    const encoded = encodeURIComponent(NASTY.slice(0, 300));
    for (const path of [
      `/tasks/${encoded}`,
      `/gallery/${encoded}`,
      `/compare?outputs=${encoded}`,
      `/webhooks/${encoded}`,
      `/${encoded}`,
    ]) {
      await visitor.goto(path);
      await page.locator('main h1, [role=dialog]').first().waitFor();
      expect({ path, made: await page.evaluate(MADE_BY_TEXT) }).toEqual({ path, made: [] });
    }
    for (const next of ['javascript:alert(1)', '//evil.example/', 'https://evil.example/', '/\\evil.example']) {
      const other = await Visitor.open(browser, service.baseUrl);
      await other.goto(`/sign-in?next=${encodeURIComponent(next)}`);
      await other.page.locator('input[name=key]').fill(service.api.key as string);
      await other.page.keyboard.press('Enter');
      await other.page.getByRole('navigation', { name: 'Main', exact: true }).waitFor();
      expect({ next, host: new URL(other.page.url()).host }).toEqual({ next, host: new URL(service.baseUrl).host });
      expect({ next, problems: other.problems }).toEqual({ next, problems: [] });
      await other.close();
    }
  });
});
