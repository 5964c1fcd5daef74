import sharp from 'sharp';
import { freePort } from '../../support/free-port.ts';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Rest } from '../../support/browser/rest.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';

/** Under which the service names itself; the browser goes to its port on this machine. */
const PUBLIC_URL = 'http://pictures.example:8080';

interface Schema {
  required?: string[];
  properties: Record<
    string,
    { enum?: string[]; const?: unknown; minimum?: number; maximum?: number; default?: unknown }
  >;
}

interface Made {
  task_id: string;
  model: string;
  status: string;
  priority: string;
  input: Record<string, unknown>;
}

describeInBrowser('the form of the dashboard, under another public address', () => {
  let service: OwnService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let rest: Rest;
  let png: Buffer;

  beforeAll(async () => {
    const port = String(await freePort());
    const address = `http://127.0.0.1:${port}`;
    const square = { width: 64, height: 64, channels: 3 as const, background: '#c05020' };
    [service, browser, png] = await Promise.all([
      startOwnService({ PORT: port, PUBLIC_URL }),
      launch(),
      sharp({ create: square }).png().toBuffer(),
    ]);
    rest = new Rest(address, service.env['BOOTSTRAP_API_KEY'] as string);
    visitor = await Visitor.open(browser, address);
    await visitor.signIn(service.env['BOOTSTRAP_API_KEY'] as string);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await browser.close();
    await service.close();
    expect(problems).toEqual([]);
  });
  beforeEach(async () => {
    await visitor.goto('/settings'); // the form would keep its draft
    await visitor.page.evaluate('sessionStorage.clear()');
    await visitor.goto('/create');
    await prompt().waitFor();
    await visitor.openDrawer('Settings');
  });

  const prompt = () => visitor.page.locator('textarea[name=prompt]');
  const card = () => visitor.page.getByRole('article').first();
  const field = (name: string) => visitor.page.locator(`[data-field="${name}"]`);
  const generate = async (text: string) => {
    await prompt().fill(text);
    await visitor.page.keyboard.press('Control+Enter');
  };
  const made = async () => (await rest.call<{ data: Made[] }>('/v1/tasks?limit=50')).data;

  it('makes of every model exactly what was chosen in each of its controls', async () => {
    const { page } = visitor;
    const { data: models } = await rest.call<{ data: { id: string; parameters: Schema }[] }>('/v1/models');
    expect(models).toHaveLength(5);
    const expected: Record<string, Record<string, unknown>> = {};
    for (const { id, parameters } of models) {
      await page.getByRole('combobox', { name: 'Model' }).selectOption(id);
      const chosen: Record<string, unknown> = (expected[id] = {});
      const more = page.getByText('More options');
      if ((await more.count()) > 0) await more.click();
      for (const [name, { enum: values, default: preset }] of Object.entries(parameters.properties)) {
        // The quick ones of each kind: the last value that is not the default, but no size that takes long to draw.
        const value = ['resolution', 'duration', 'reference_mode', 'model', 'background', 'quality'].includes(name)
          ? undefined
          : values?.findLast((each) => each !== preset);
        const control = field(name);
        if (value === undefined || (await control.count()) === 0) continue;
        const select = control.locator('select');
        if ((await select.count()) > 0) await select.selectOption(value);
        else await control.locator('label:has(input[type=radio])').getByText(value, { exact: true }).click();
        chosen[name] = value;
      }
      // The least of film, which takes long to draw, and two pictures.
      for (const [name, value] of [
        ['duration', parameters.properties['duration']?.minimum],
        ['n', parameters.properties['n'] && 2],
      ] as const) {
        if (value === undefined) continue;
        await field(name).locator('input[type=number]').fill(String(value));
        chosen[name] = value;
      }
      await generate(`Chosen for ${id}`);
      await card().getByText(`Chosen for ${id}`).waitFor();
    }
    const tasks = await eventually('the end of all', async () => {
      const all = (await made()).filter(({ input }) => String(input['prompt']).startsWith('Chosen'));
      return all.length === models.length && all.every(({ status }) => !['queued', 'running'].includes(status)) && all;
    });
    for (const { model, status, input: given, priority } of tasks) {
      const input = { ...given, priority };
      expect({ model, status, input }).toEqual({
        model,
        status: 'succeeded',
        input: expect.objectContaining(expected[model] as object),
      });
      expect(Object.keys(expected[model] as object).length).toBeGreaterThan(0);
    }
  });

  it('shuts the control that a mode has no use for, and says why', async () => {
    const { page } = visitor;
    await page.getByRole('combobox', { name: 'Model' }).selectOption('seedance-2');
    await page.getByRole('radiogroup', { name: 'Reference mode' }).getByText('first_frame').click();
    await field('first_frame_image_url').getByText('Browse', { exact: true }).waitFor();
    const other = field('reference_image_url');
    const more = page.getByText('More options');
    if (!(await other.isVisible())) await more.click(); // what makes no sense beside the other values stands there
    await other.getByText('cannot be combined with reference_mode "first_frame"').waitFor();
    expect(await other.getByText('Browse', { exact: true }).count()).toBe(0);
    await page.getByRole('radiogroup', { name: 'Reference mode' }).getByText('omni').click();
    await other.getByText('Browse', { exact: true }).waitFor();
  });

  it('takes images by drop, paste and browse, and uses them though the service names itself otherwise', async () => {
    const { page } = visitor;
    const tray = field('reference_images');
    const send = (type: 'drop' | 'paste') =>
      tray
        .locator('[aria-disabled]')
        .first()
        .evaluate(SEND_FILES, { type, files: [{ name: `${type}.png`, base64: png.toString('base64') }] });
    await send('drop');
    await page.getByRole('img', { name: 'Reference images 1' }).waitFor();
    await send('paste');
    await page.getByRole('img', { name: 'Reference images 2' }).waitFor();
    await field('reference_images')
      .locator('input[type=file]')
      .setInputFiles({ name: 'c.png', mimeType: 'image/png', buffer: png });
    await page.getByRole('img', { name: 'Reference images 3' }).waitFor();
    await generate('Of three');
    await card().getByText('Succeeded').waitFor();
    await card().locator('img').first().hover();
    await card().getByRole('link', { name: 'Use as reference' }).first().click();
    await page.getByRole('img', { name: 'Reference images 4' }).waitFor();
    await page.waitForTimeout(450);
    await generate('Of an output');
    await page.getByRole('article', { name: 'Run: Of an output' }).getByText('Succeeded').waitFor();
    // Its page shows what the references look like.
    await card().getByRole('link', { name: 'Task', exact: true }).click();
    const shown = page.getByRole('region', { name: 'Prompt' }).getByRole('img', { name: 'Reference' });
    await eventually('four references', async () => (await shown.count()) === 4);
    await page.getByRole('tab', { name: 'Input' }).click();
    const given = page.getByRole('tabpanel').getByRole('img', { name: 'Reference' });
    await eventually('four among the inputs', async () => (await given.count()) === 4);
  });

  it('takes images that are dropped on the page or pasted into the prompt', async () => {
    const { page } = visitor;
    const send = (target: string, type: 'drop' | 'paste') =>
      page
        .locator(target)
        .evaluate(SEND_FILES, { type, files: [{ name: `${type}.png`, base64: png.toString('base64') }] });
    await send('[aria-label="Runs of this tab"]', 'drop');
    await page.getByRole('img', { name: 'Reference images 1' }).waitFor();
    await send('textarea[name=prompt]', 'paste');
    await page.getByRole('img', { name: 'Reference images 2' }).waitFor();
  });

  it.each([
    ['the page', '[aria-label="Runs of this tab"]'],
    ['its field', '[data-field="reference_images"] [aria-disabled]'],
  ])('keeps the other files of a drop on %s when some are refused, and names those', async (_where, target) => {
    const { page } = visitor;
    const base64 = png.toString('base64');
    const files = [
      { name: 'first.png', base64 },
      { name: 'lying.png', base64: btoa('%PDF-1.7 not a picture') },
      { name: 'notes.txt', base64: btoa('A list'), mime: 'text/plain' },
      { name: 'last.png', base64 },
    ];
    await page
      .locator(target)
      .first()
      .evaluate(SEND_FILES, { type: 'drop' as const, files });
    await page.getByRole('img', { name: 'Reference images 2' }).waitFor();
    await page.getByText(/^lying\.png: /).waitFor();
    await page.getByText('notes.txt is no JPEG, PNG or WebP image.').waitFor();
    expect(await page.getByRole('img', { name: /^Reference images/ }).count()).toBe(2);
    visitor.problems.splice(
      0,
      visitor.problems.length,
      ...visitor.problems.filter((each) => !each.includes('status of 400')),
    );
  });

  it('keeps an image whose upload goes on while another page is open', async () => {
    const { page } = visitor;
    const held: (() => void)[] = [];
    await page.route('**/v1/files', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    const choose = (name: string) =>
      field('reference_images').locator('input[type=file]').setInputFiles({ name, mimeType: 'image/png', buffer: png });
    const menu = (name: string) =>
      page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name });
    const image = (nth: number) => page.getByRole('img', { name: `Reference images ${nth}` });
    const sent = (count: number) => eventually(`${count} uploads`, async () => held.length === count);

    // It ends on the other page, where a report says so.
    await choose('first.png');
    await sent(1);
    await menu('Gallery').click();
    await page.getByText('Uploading first.png…').waitFor();
    held[0]!();
    await page.getByText('Uploading first.png…').waitFor({ state: 'detached' });
    await menu('Create').click();
    await image(1).waitFor();

    // They end after the return.
    await choose('second.png');
    await choose('third.png');
    await sent(3);
    await menu('Gallery').click();
    await page.getByText('Uploading third.png…').waitFor();
    await menu('Create').click();
    await page.getByRole('progressbar', { name: 'Uploading second.png' }).waitFor();
    held[1]!();
    held[2]!();
    await image(3).waitFor();
    await page.reload();
    await image(3).waitFor();
    expect(await image(4).count()).toBe(0);
    await page.unroute('**/v1/files');
  });

  it('refuses 21 MB, another format and lying bytes, each in words', async () => {
    const { page } = visitor;
    const input = field('reference_images').locator('input[type=file]');
    const give = (name: string, mimeType: string, buffer: Buffer) => input.setInputFiles({ name, mimeType, buffer });
    await give('large.png', 'image/png', Buffer.alloc(21_000_000));
    await page.getByText('large.png is larger than 20 MB.').waitFor();
    await give('moving.gif', 'image/gif', Buffer.from('GIF89a'));
    await page.getByText('moving.gif is no JPEG, PNG or WebP image.').waitFor();
    await give('lying.png', 'image/png', Buffer.from('%PDF-1.7 not a picture'));
    await field('reference_images')
      .getByText(/not a(n| usable)? .*(JPEG|image)/i)
      .waitFor();
    expect(await page.getByRole('img', { name: /^Reference images/ }).count()).toBe(0);
    visitor.problems.splice(
      0,
      visitor.problems.length,
      ...visitor.problems.filter((each) => !each.includes('status of 400')),
    );
  });

  it('puts a refusal on the slot that it names', async () => {
    const { page } = visitor;
    await field('reference_images')
      .locator('input[type=file]')
      .setInputFiles({ name: 'c.png', mimeType: 'image/png', buffer: png });
    await page.getByRole('img', { name: 'Reference images 1' }).waitFor();
    await field('reference_images').getByRole('button', { name: 'URL' }).click();
    await page.getByLabel('URL of Reference images').fill('ftp://example.com/a.png');
    await page.keyboard.press('Enter');
    await generate('A refused link');
    const slots = field('reference_images').locator('[data-bad]');
    await eventually('the second slot is marked', async () => (await slots.nth(1).getAttribute('data-bad')) === 'true');
    expect(await slots.nth(0).getAttribute('data-bad')).toBe('false');
    expect(await slots.nth(1).getByRole('alert').textContent()).toMatch(/http/);
  });

  it('counts down while the queue of the key is full, then sends with the same key: one task', async () => {
    const { page } = visitor;
    let refusals = 0;
    const keys = new Set<string>();
    await page.route('**/graphql', async (route) => {
      const body = route.request().postData() ?? '';
      if (!body.includes('mutation CreateGeneration')) return route.continue();
      keys.add((JSON.parse(body) as { variables: { key: string } }).variables.key);
      if (refusals++ > 0) return route.continue();
      return route.fulfill({
        status: 429,
        headers: { 'retry-after': '3' },
        json: { errors: [{ message: 'The queue of this key is full.', extensions: { code: 'queue_full' } }] },
      });
    });
    await generate('After the queue');
    await card()
      .getByText(/^Trying again in [123]/)
      .waitFor();
    expect(await card().getByRole('alert').textContent()).toContain('queue_full');
    await card().getByText('Succeeded').waitFor();
    expect((await made()).filter(({ input }) => input['prompt'] === 'After the queue')).toHaveLength(1);
    expect(keys.size).toBe(1);
    await page.unroute('**/graphql');
    visitor.problems.splice(0, visitor.problems.length, ...visitor.problems.filter((each) => !each.includes('429')));
  });

  it('offers to run again what may succeed, and not what is refused each time', async () => {
    const { page } = visitor;
    const again = (text: string) =>
      page.getByRole('article', { name: `Run: ${text}` }).getByRole('button', { name: 'Run again' });
    await generate('Late #fail:provider_timeout');
    await again('Late').waitFor();
    await page.waitForTimeout(450);
    await generate('Rude #fail:content_policy_violation');
    await card().getByText('The provider refused the content', { exact: true }).waitFor();
    expect(await again('Rude').count()).toBe(0);
    await card().getByRole('link', { name: 'Task', exact: true }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(await page.getByRole('button', { name: /^Run again/ }).count()).toBe(0);
  });

  it('cancels from the page of a task and by the key c, and comes back with the focus on the prompt', async () => {
    const { page } = visitor;
    await generate('Stopped by a key #hang');
    await card()
      .getByText(/^Running/)
      .waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('c');
    await card().getByText('Cancelled').waitFor();
    const id = await rest.make({ model: 'sora-2', prompt: 'Stopped on its page #hang' });
    await visitor.goto(`/tasks/${id}`);
    await page.getByRole('button', { name: /^Cancel/ }).click();
    await page.getByText('Cancelled', { exact: true }).first().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await eventually('the prompt has the focus', () =>
      prompt()
        .evaluate(HAS_FOCUS)
        .catch(() => false),
    );
  });
});

interface Sent {
  type: 'drop' | 'paste';
  files: { name: string; base64: string; mime?: string }[];
}

/** As a browser tells a page of files that are dropped or pasted. Runs in the page. */
function SEND_FILES(element: unknown, { type, files }: Sent): void {
  const page = globalThis as unknown as {
    DataTransfer: new () => { items: { add(file: unknown): void } };
    DragEvent: new (type: string, about: object) => Event;
    ClipboardEvent: new (type: string, about: object) => Event;
  };
  const data = new page.DataTransfer();
  for (const { name, base64, mime = 'image/png' } of files)
    data.items.add(new File([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))], name, { type: mime }));
  const about = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
  const event = type === 'drop' ? new page.DragEvent('drop', about) : new page.ClipboardEvent('paste', about);
  (element as EventTarget).dispatchEvent(event);
}
