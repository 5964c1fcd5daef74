import type { Page } from 'playwright-core';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';
import { announcer } from '../../support/browser/announce.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Rest } from '../../support/browser/rest.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';

/** Presses after which a control must have been reached. */
const MAX_TABS = 60;
/** More than run at once: the rest waits. */
const RUNAWAY = 80;
/** From this many on the number is typed. */
const TYPED_FROM = 51;

/** What has the focus: its name, and the part of the page that it is in. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  const name = at.ariaLabel || at.labels?.[0]?.textContent || at.textContent || at.name || at.tagName;
  const part = at.closest('nav, header[class]:not(aside *), form, [aria-label="Runs of this tab"], [aria-label="Code"]');
  const { top, bottom } = at.getBoundingClientRect();
  return { name: name.trim(), part: part?.ariaLabel ?? part?.tagName.toLowerCase() ?? at.tagName.toLowerCase(), inSight: bottom > 0 && top < innerHeight };
})()`;
interface Focused {
  name: string;
  part: string;
  inSight: boolean;
}

describeInBrowser('the dashboard without a pointer', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let rest: Rest;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    rest = new Rest(service.baseUrl, service.api.key as string);
  });
  afterAll(async () => {
    await browser.close();
  });

  const focused = (page: Page) => page.evaluate(FOCUSED) as Promise<Focused>;
  /** Tabs on until a control of this name has the focus. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    const passed: string[] = [];
    for (let presses = 0; presses < MAX_TABS; presses++) {
      const at = await focused(page);
      if (name.test(at.name)) return;
      passed.push(at.name.slice(0, 30));
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab did not reach ${String(name)}, but: ${passed.join(' | ')}`);
  }

  it('leads the focus in reading order, and past the menu by the skip link', async () => {
    const visitor = await Visitor.open(browser, service.baseUrl, { width: 1680 });
    const { page } = visitor;
    await visitor.enter(service.api.key as string);
    await page.locator('textarea[name=prompt]:focus').waitFor();
    await page.getByRole('button', { name: /^Signed in with/ }).waitFor(); // it comes with an answer of its own
    await visitor.openDrawer('Code');
    await page.getByRole('link', { name: 'Skip to content' }).focus();
    const order: Focused[] = [];
    for (let presses = 0; presses < MAX_TABS; presses++) {
      order.push(await focused(page));
      await page.keyboard.press('Tab');
      if (order.at(-1)?.part === 'Code') break;
    }
    const parts = order.map(({ part }) => part).filter((part, at, all) => part !== all[at - 1]);
    expect(parts).toEqual(['a', 'Main', 'header', 'Runs of this tab', 'form', 'Code']);
    expect(order.filter(({ inSight }) => !inSight)).toEqual([]);
    const names = order.map(({ name }) => name);
    const wanted = ['Skip to content', 'Darkroom', 'Create', /^Tasks/, 'Gallery', /^Search or jump/, /^Signed in with/]
      .concat([
        /^Prompt/,
        /^Generate/,
        /^Model/,
        /^Reference images/,
        /^Aspect ratio/,
        /^Resolution/,
        /^Images/,
        'Settings',
        'Code',
        'History',
      ] as never)
      .map((each) => (typeof each === 'string' ? new RegExp(`^${each}$`) : (each as RegExp)));
    let from = 0;
    for (const name of wanted) {
      const at = names.findIndex((each, index) => index >= from && name.test(each));
      expect({ name: String(name), found: at >= 0, names: at >= 0 ? [] : names }).toEqual({
        name: String(name),
        found: true,
        names: [],
      });
      from = at + 1;
    }

    await page.getByRole('link', { name: 'Skip to content' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('Boolean(document.activeElement.closest("#main"))')).toBe(true);
    expect(visitor.problems).toEqual([]);
    await visitor.close();
  });

  it('tells the steps of a task politely, one sentence in five seconds, and only a refusal at once', async () => {
    const visitor = await Visitor.open(browser, service.baseUrl);
    const { page } = visitor;
    await visitor.enter(service.api.key as string);
    await page.evaluate(`globalThis.spoken = [];
      new MutationObserver(() => spoken.push({ at: performance.now(), text: document.querySelector('[data-live]').textContent }))
        .observe(document.querySelector('[data-live]'), { childList: true, characterData: true, subtree: true })`);
    const says = (text: string) => page.getByRole('status', { name: 'Progress' }).getByText(text).waitFor();
    await page.locator('textarea[name=prompt]').fill('Heard by ear #hang');
    await page.keyboard.press('Control+Enter');
    const card = page.getByRole('article').first();
    await card.getByText(/^Running/).waitFor();
    const { data } = await rest.call<{ data: { task_id: string }[] }>('/v1/tasks?limit=1');
    const id = data[0]?.task_id ?? '';
    const changes = await announcer(service.database.url, service.keyId);
    const progress = async (percent: number) => {
      const change = `update tasks_live set progress = ${percent}, sequence = sequence + 1 where id = '${id}'`;
      await queryOnce(service.database.url, change);
      changes.announce([id]);
    };
    // Of steps that follow one another closely only the last is still true when it is said.
    await progress(30);
    await progress(60);
    await says('60 percent: Heard by ear');
    await changes.stop();
    await rest.call(`/v1/tasks/${id}/cancel`, {});
    await says('Cancelled: Heard by ear');
    const spoken = (await page.evaluate('spoken')) as { at: number; text: string }[];
    expect(spoken.map(({ text }) => text).filter((text) => !/^(Queued|0|30)( percent)?:/.test(text))).toEqual([
      '60 percent: Heard by ear #hang',
      'Cancelled: Heard by ear #hang',
    ]);
    for (const [index, { at }] of spoken.slice(1).entries()) {
      expect(at - (spoken[index]?.at ?? 0)).toBeGreaterThan(4_900);
    }
    expect(await page.locator('[aria-live=assertive], [role=alert]').count()).toBe(0);

    await page.locator('textarea[name=prompt]').fill('');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').getByText('Prompt is required.').waitFor();
    expect(await page.locator('textarea[name=prompt]').evaluate(HAS_FOCUS)).toBe(true);
    expect(visitor.problems).toEqual([]);
    await visitor.close();
  });

  it('hands out a key with Copy and stops a runaway batch, by keyboard alone at 400 %', async () => {
    // 1280 px at 400 % are 320 px of CSS.
    const visitor = await Visitor.open(browser, service.baseUrl, { width: 320, height: 256 });
    const { page, context } = visitor;
    const { keyboard } = page;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.baseUrl });
    await visitor.enter(service.api.key as string);
    await page.locator('textarea[name=prompt]:focus').waitFor();
    await keyboard.press('Tab'); // no letter is a shortcut in a field
    await keyboard.press('g');
    await keyboard.press('k');
    await page.waitForURL('**/app/keys');
    await page.getByRole('button', { name: 'New key' }).waitFor();
    await tabTo(page, /^New key$/);
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New API key' }).waitFor();
    await tabTo(page, /^Name/);
    await keyboard.type('By keyboard alone');
    await tabTo(page, /^Create key$/);
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'The new API key' }).waitFor();
    await tabTo(page, /^Copy$/);
    await keyboard.press('Enter');
    const secret = await page.getByRole('region', { name: 'The secret' }).textContent();
    await eventually(
      'the key is copied',
      async () => (await page.evaluate('navigator.clipboard.readText()')) === secret,
    );
    await tabTo(page, /^I have saved it$/);
    await keyboard.press(' ');
    await tabTo(page, /^Done$/);
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'By keyboard alone' }).waitFor();
    expect(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))).toBeLessThanOrEqual(0);

    await Promise.all(
      Array.from({ length: RUNAWAY }, (_, at) => rest.make({ model: 'sora-2', prompt: `Runaway ${at} #hang` })),
    );
    await keyboard.press('g');
    await keyboard.press('t');
    await page.waitForURL('**/app/tasks');
    await page.getByRole('row').first().waitFor();
    await tabTo(page, /^All$/);
    await keyboard.press('ArrowRight'); // Unfinished
    await keyboard.press('ArrowRight');
    await page.waitForURL('**/app/tasks?status=queued');
    const cancel = page.getByRole('button', { name: 'Cancel all queued' });
    await cancel.waitFor();
    for (let presses = 0; presses < MAX_TABS && !(await cancel.evaluate(HAS_FOCUS)); presses++) {
      await keyboard.press('Shift+Tab');
    }
    await keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /^Cancel \d+ tasks\?$/ });
    const asked = /\d+/.exec((await dialog.getByRole('heading').textContent()) ?? '')?.[0] ?? '';
    if (Number(asked) >= TYPED_FROM) {
      await tabTo(page, /to confirm$/);
      await keyboard.type(asked);
    }
    await tabTo(page, new RegExp(`^Cancel ${asked} tasks$`));
    await keyboard.press('Enter');
    await page.getByText(`${asked} tasks cancelled.`).waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.getAnimations().filter((each) => each instanceof CSSAnimation).length')).toBe(
      0,
    );
    expect(visitor.problems).toEqual([]);
    await visitor.close();
  });
});
