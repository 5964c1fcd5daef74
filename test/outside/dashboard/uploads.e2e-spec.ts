import sharp from 'sharp';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Visitor } from '../../support/browser/visitor.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

interface Sent {
  model: string;
  [name: string]: unknown;
}

describeInBrowser('images on their way into the form', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let buffer: Buffer;
  /** The inputs of the requests that the page has sent. */
  let sent: Sent[];

  beforeAll(async () => {
    const square = { width: 64, height: 64, channels: 3 as const, background: '#2050c0' };
    [service, browser, buffer] = await Promise.all([
      joinService(),
      launch(),
      sharp({ create: square }).png().toBuffer(),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  beforeEach(async () => {
    visitor = await Visitor.open(browser, service.baseUrl, { width: 1440, height: 900 });
    await visitor.page.addInitScript(HOLD_UPLOADS);
    await visitor.enter(service.api.key as string);
    sent = [];
    visitor.page.on('request', (request) => {
      const body = request.postData() ?? '';
      if (body.includes('mutation CreateGeneration'))
        sent.push((JSON.parse(body) as { variables: { input: Sent } }).variables.input);
    });
  });
  afterEach(async () => {
    const { problems } = visitor;
    await visitor.close();
    expect(problems).toEqual([]);
  });

  const prompt = () => visitor.page.locator('textarea[name=prompt]');
  const field = (name: string) => visitor.page.locator(`[data-field="${name}"]`);
  const give = (place: ReturnType<typeof field>, name: string) =>
    place.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/png', buffer });
  const chip = (name: string | RegExp) => visitor.page.getByRole('toolbar').getByRole('button', { name });
  const choose = (model: string) => visitor.page.getByRole('combobox', { name: 'Model' }).selectOption(model);
  const image = (label: string, nth: number) => visitor.page.getByRole('img', { name: `${label} ${nth}`, exact: true });
  /** Waits until so many uploads have their answer, which the page does not know yet. */
  const answered = (count: number) =>
    eventually(`${count} answers`, async () => (await visitor.page.evaluate('heldUploads.length')) === count);
  /** The page learns of all these answers in one frame. */
  const letGo = () => visitor.page.evaluate('letGo()');
  const values = async () =>
    (JSON.parse(String(await visitor.page.evaluate(`sessionStorage.getItem('darkroom.draft')`))) as { values: object })
      .values;
  const menu = (name: string) =>
    visitor.page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name });

  it.each([
    ['a reference', 'gpt-image-2', 'reference_images', { referenceImages: [expect.stringMatching(/^file_/)] }],
    ['a mask', 'gpt-image-2', 'mask', { mask: expect.stringMatching(/^file_/) }],
    ['a last frame', 'seedance-2', 'last_frame_image_url', { lastFrameImageUrl: expect.stringMatching(/^file_/) }],
  ])('lets Generate wait for the upload of %s, and then sends it along', async (_what, model, name, wanted) => {
    await visitor.openDrawer('Settings');
    await choose(model);
    const needed = name === 'mask' ? 'reference_images' : name === 'last_frame_image_url' && 'first_frame_image_url';
    if (needed) {
      await give(field(needed), 'first.png');
      await answered(1);
      await letGo();
      await field(needed).getByRole('img').waitFor();
    }
    await give(field(name), 'late.png');
    await answered(1);
    await prompt().fill('With what is still on its way');
    await visitor.page.getByRole('button', { name: 'Generate after the upload' }).click();
    await visitor.page.getByRole('button', { name: 'Waiting for the upload…' }).waitFor();
    await visitor.page.keyboard.press('Control+Enter');
    expect(sent).toEqual([]);
    await letGo();
    await eventually('the request', async () => sent.length > 0);
    await visitor.page.getByRole('button', { name: 'Generate', exact: false }).waitFor();
    expect(sent).toEqual([expect.objectContaining(wanted)]);
  });

  it('lets Generate wait for a picture that a film is to be made of', async () => {
    await give(visitor.page.getByRole('region', { name: 'Runs of this tab' }), 'frame.png');
    await prompt().fill('It begins to move #hang');
    await visitor.page.keyboard.press('Control+Enter');
    await visitor.page.getByRole('button', { name: 'Waiting for the upload…' }).waitFor();
    await answered(1);
    expect(sent).toEqual([]);
    await letGo();
    await eventually('the request', async () => sent.length > 0);
    expect(sent).toEqual([
      expect.objectContaining({ model: 'sora-2', firstFrameImageUrl: expect.stringMatching(/^file_/) }),
    ]);
  });

  it('sends nothing when the upload fails, and says why', async () => {
    const { page } = visitor;
    await page.route('**/v1/files', (route) =>
      route.fulfill({ status: 507, json: { error: { code: 'storage_full', message: 'There is no room left.' } } }),
    );
    const press = async () => {
      await answered(1);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('button', { name: 'Waiting for the upload…' }).waitFor();
      await letGo();
      await page.getByText('There is no room left.').waitFor();
      await page.getByRole('button', { name: /^Generate(?! after)/ }).waitFor();
      expect(sent).toEqual([]);
    };
    await prompt().fill('Only with the picture');
    // Once in a report, because no tray is open, and once in its tray.
    await give(page.getByRole('region', { name: 'Runs of this tab' }), 'frame.png');
    await press();
    await page.getByText('There is no room left.').waitFor({ state: 'detached' });
    await visitor.openDrawer('Settings');
    await give(field('reference_images'), 'late.png');
    await press();
    // To send it without the picture takes another press.
    await eventually('the request', async () => {
      await page.keyboard.press('Control+Enter'); // the first may come too soon after the other press
      return sent.length > 0;
    });
    expect(sent[0]).not.toHaveProperty('referenceImages');
    visitor.problems.splice(0, 10, ...visitor.problems.filter((each) => !each.includes('507')));
  });

  it('takes all images that arrive in one frame, in order and once, across a change of the model', async () => {
    await visitor.openDrawer('Settings');
    await give(field('reference_images'), 'a.png');
    await answered(1);
    await give(field('reference_images'), 'b.png');
    await answered(2);
    await visitor.page.evaluate(`(() => {
      const model = document.querySelector('aside select');
      Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(model, 'seedance-2');
      model.dispatchEvent(new Event('change', { bubbles: true }));
      letGo();
    })()`);
    await image('First frame image', 1).waitFor();
    await image('Reference image', 1).waitFor();
    const ids = (await visitor.page.evaluate('answers')) as string[];
    expect(await values()).toMatchObject({ first_frame_image_url: ids[0], reference_image_url: ids[1] });
  });

  it('takes the films and references that are asked for in one frame', async () => {
    const { page } = visitor;
    await chip('Images: ×1').click();
    await page.getByRole('spinbutton', { name: 'Images' }).fill('2');
    await prompt().fill('Two of them');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article').getByText('Succeeded').waitFor();
    const tiles = (await page.evaluate(
      `[...document.querySelectorAll('[data-tile]')].map((each) => each.dataset.tile)`,
    )) as string[];
    expect(tiles).toHaveLength(2);
    const press = (...names: string[]) =>
      page.evaluate(
        `${JSON.stringify(names)}.forEach((name, at) =>
          document.querySelectorAll('[data-tile]')[at].querySelector('[aria-label="' + name + '"]').click())`,
      );
    await press('Use as reference', 'Use as reference');
    await chip('Reference images: 2').waitFor();
    expect(await values()).toMatchObject({ reference_images: tiles });
    await press('Use as reference', 'Use as reference');
    expect(await values()).toMatchObject({ reference_images: tiles });
    // The model of films takes one picture. The first of two stays, and the user learns that the other has no place.
    for (const names of [
      ['Animate', 'Use as reference'],
      ['Animate', 'Animate'],
    ]) {
      await press(...names);
      await chip('First frame image: 1').waitFor();
      await page.getByText('sora-2 takes no more images: 1 is left out.').waitFor();
      expect(await values()).toMatchObject({ first_frame_image_url: tiles[0] });
      await visitor.goto('/settings');
      await page.evaluate(`sessionStorage.removeItem('darkroom.draft')`);
      await visitor.goto('/create');
      await page.locator('[data-tile]').nth(1).waitFor();
    }
  });

  it('does not lose an image that arrives while Create opens', async () => {
    const { page } = visitor;
    await visitor.openDrawer('Settings');
    await give(field('reference_images'), 'a.png');
    await answered(1);
    await menu('Gallery').click();
    await page.getByText('Uploading a.png…').waitFor();
    // The page learns of it right after the form was drawn.
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (!document.querySelector('textarea[name=prompt]')) return;
      observer.disconnect();
      letGo();
    }).observe(document.body, { childList: true, subtree: true })`);
    await menu('Create').click();
    await image('Reference images', 1).waitFor();
    await page.reload();
    await image('Reference images', 1).waitFor();
  });

  it('puts an image into its own field while the tray of another field is open', async () => {
    const { page } = visitor;
    await chip(/^Model/).click();
    await choose('seedance-2');
    await chip('First frame image: none').click();
    await give(field('first_frame_image_url'), 'first.png');
    await answered(1);
    await chip('Reference image: none').click();
    await field('reference_image_url').getByText('Browse').waitFor();
    await page.getByText('Uploading first.png…').waitFor();
    expect(await field('reference_image_url').getByRole('progressbar').count()).toBe(0);
    await give(field('reference_image_url'), 'other.png');
    await answered(2);
    await letGo();
    await chip('First frame image: 1').waitFor();
    await chip('Reference image: 1').waitFor();
    await page.getByText('Uploading first.png…').waitFor({ state: 'detached' });
    const ids = (await page.evaluate('answers')) as string[];
    expect(await values()).toMatchObject({ first_frame_image_url: ids[0], reference_image_url: ids[1] });
  });

  it.each(['while it is uploaded', 'after it was uploaded'])(
    'gives no image to the form of another API key: a change of the key %s',
    async (when) => {
      const { page } = visitor;
      const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
        name: 'other',
        scopes: ['generations:write', 'tasks:read'],
      });
      await visitor.openDrawer('Settings');
      await give(field('reference_images'), 'mine.png');
      await answered(1);
      await menu('Gallery').click();
      const note = page.getByText('Uploading mine.png…');
      await note.waitFor();
      if (when.startsWith('after')) {
        await letGo();
        await note.waitFor({ state: 'detached' });
      }
      await page.getByRole('button', { name: /^Signed in with/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.locator('input[name=key]').fill(other.body.key);
      await page.keyboard.press('Enter');
      await menu('Create').click();
      await prompt().waitFor();
      await letGo();
      await note.waitFor({ state: 'detached' });
      // An image of this key is the only one.
      await give(field('reference_images'), 'yours.png');
      await answered(1);
      await letGo();
      await image('Reference images', 1).waitFor();
      const ids = (await page.evaluate('answers')) as string[];
      expect(await values()).toMatchObject({ reference_images: [ids.at(-1)] });
    },
  );
});

/** Keeps the answers to uploads from the page until `letGo`. Runs in the page. */
const HOLD_UPLOADS = `
  globalThis.heldUploads = [];
  globalThis.answers = [];
  globalThis.letGo = () => heldUploads.splice(0).forEach((tell) => tell());
  const listen = XMLHttpRequest.prototype.addEventListener;
  XMLHttpRequest.prototype.addEventListener = function (type, tell, ...rest) {
    if (type !== 'load') return listen.call(this, type, tell, ...rest);
    listen.call(this, type, () => {
      answers.push(this.response?.id);
      heldUploads.push(() => tell.call(this));
    });
  };
`;
