import type { Locator } from 'playwright-core';
import sharp from 'sharp';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { decodedWidth, Visitor } from '../../support/browser/visitor.ts';
import { busyness, eventually, leastOf } from '../../support/wait.ts';

/** From the press to the place of the picture on the screen of a phone. */
const IN_SIGHT_MS = 300;
const NEWEST_SHARE = 0.6;
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

describeInBrowser('what people come for', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let clicks = 0;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
  });
  afterAll(() => browser.close());
  beforeEach(() => enter(DESKTOP));
  afterEach(async () => {
    const { problems } = visitor;
    await visitor.close();
    expect(problems).toEqual([]);
  });

  async function enter(size: typeof DESKTOP) {
    await visitor?.close();
    visitor = await Visitor.open(browser, service.baseUrl, size);
    await visitor.enter(service.api.key as string);
    clicks = 0;
  }
  async function click(target: Locator) {
    clicks += 1;
    await target.click();
  }
  const strip = () => visitor.page.getByRole('article').first();
  const generate = () => visitor.page.getByRole('button', { name: /^Generate/ });
  const strips = (count: number) =>
    eventually(`${count} strips`, async () => (await visitor.page.getByRole('article').count()) === count);

  /** A picture on the table, made by the keyboard. */
  async function picture(prompt: string) {
    await visitor.page.locator('textarea[name=prompt]').fill(prompt);
    await visitor.page.keyboard.press('Control+Enter');
    await strip().locator('img').first().evaluate(decodedWidth);
  }

  it('is a second variation by 1 click, and another picture', async () => {
    await picture('A fox in snow');
    const source = (await strip().locator('img').first().getAttribute('src')) ?? '';
    await strip().locator('img').first().hover();
    await click(strip().getByRole('button', { name: 'Vary' }));
    await strips(2);
    await strip().locator('img').first().evaluate(decodedWidth);
    // The files differ in what they say of their task.
    const pixels = async (path: string) =>
      sharp(await (await fetch(new URL(path, service.baseUrl))).arrayBuffer())
        .raw()
        .toBuffer();
    const varied = (await strip().locator('img').first().getAttribute('src')) ?? '';
    expect((await pixels(varied)).equals(await pixels(source))).toBe(false);
    expect(clicks).toBe(1);
  });

  it('is a film of a picture by 2 clicks', async () => {
    await picture('A pier in fog');
    await strip().locator('img').first().hover();
    await click(strip().getByRole('button', { name: 'Animate' }));
    await visitor.page.locator('textarea[name=prompt]').fill('A pier in fog #hang'); // a film takes long to draw
    await click(generate());
    await strips(2);
    await strip()
      .getByText(/^Running/)
      .waitFor();
    expect(clicks).toBe(2);
    await service.close();
  });

  it.each([DESKTOP, PHONE])('is a film of a picture of one’s own by 2 clicks at $width', async (size) => {
    await enter(size);
    const buffer = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#5aa0c8' } })
      .png()
      .toBuffer();
    const chooser = visitor.page.waitForEvent('filechooser');
    await click(visitor.page.getByRole('button', { name: 'Make a film of a picture of yours' }));
    await (await chooser).setFiles({ name: 'mine.png', mimeType: 'image/png', buffer });
    await visitor.page.getByRole('button', { name: 'First frame image: 1' }).waitFor();
    await visitor.page.locator('textarea[name=prompt]').fill('Clouds drift by #hang');
    await click(generate());
    await strip()
      .getByText(/^Running/)
      .waitFor();
    expect(clicks).toBe(2);
    const { body } = await service.api.get<{ data: { task_id: string; input: object }[] }>('/v1/tasks?limit=1');
    expect(body.data[0]?.input).toMatchObject({ first_frame_image_url: expect.stringMatching(/^file_/) });
    await service.close();
  });

  it('is a comparison of four by 2 clicks', async () => {
    await visitor.openDrawer('Settings');
    await visitor.page.locator('[data-field="n"] input[type=number]').fill('4');
    await visitor.page.locator('textarea[name=prompt]').fill('Four lighthouses');
    clicks = 0;
    await click(generate());
    await click(strip().getByRole('link', { name: 'Compare 4' }));
    await visitor.page.getByRole('region', { name: 'Output 4' }).locator('img').evaluate(decodedWidth);
    expect(clicks).toBe(2);
  });

  it('is the code of a request by 1 click, and the newest picture large', async () => {
    await picture('A lamp in the fog');
    const box = await strip().locator('img').first().boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(NEWEST_SHARE * DESKTOP.height);
    await click(visitor.page.getByRole('button', { name: 'Code', exact: true }));
    await visitor.page.getByRole('region', { name: 'The request in curl' }).getByText('A lamp in the fog').waitFor();
    expect(clicks).toBe(1);
  });

  it('is a paused provider by 2 clicks', async () => {
    await visitor.go('/providers');
    const providers = visitor.page.getByRole('region', { name: 'Providers', exact: true });
    await click(providers.getByRole('button', { name: /^Pause/ }).first());
    await visitor.page.getByRole('dialog').getByLabel('Why').fill('Maintenance');
    await click(visitor.page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }));
    const resume = providers.getByRole('button', { name: /^Resume/ });
    await resume.waitFor();
    expect(clicks).toBe(2);
    await resume.click();
    await visitor.page
      .getByRole('dialog')
      .getByRole('button', { name: /^(Resume|End)/ })
      .click();
    await providers
      .getByRole('button', { name: /^Pause/ })
      .first()
      .waitFor();
    await eventually('no pause', async () => (await resume.count()) === 0);
  });

  it('is a watched batch of 50 by 1 click', async () => {
    const requests = Array.from({ length: 50 }, () => ({
      body: { model: 'gpt-image-2', prompt: 'One of fifty #hang' },
    }));
    const { body } = await service.api.call<{ id: string }>('POST', '/v1/batches', { requests });
    await click(visitor.page.getByRole('link', { name: 'Batches' }).first());
    await visitor.page.getByRole('progressbar').first().waitFor();
    expect(clicks).toBe(1);
    await service.api.call('POST', `/v1/batches/${body.id}/cancel`);
  });

  it('is on the screen of a phone at once', async () => {
    await enter(PHONE);
    const { page } = visitor;
    const bound = IN_SIGHT_MS * busyness();
    const measure = async (): Promise<number> => {
      await page.locator('textarea[name=prompt]').fill('Seen on a phone #hang');
      await page.evaluate(`(${WATCH})(${PHONE.height})`);
      await click(generate());
      const ms = await page.evaluate('window.inSight');
      await page.waitForTimeout(450); // two presses within 400 ms are one
      return Number(ms);
    };
    expect(await leastOf(5, bound, measure)).toBeLessThan(bound);
    await service.close();
  });
});

/** Runs in the page: milliseconds from the next press to the place of a new picture within the screen. */
const WATCH = `(height) => {
  const known = document.querySelectorAll('article').length;
  window.inSight = new Promise((resolve) => {
    addEventListener('click', () => {
      const pressed = performance.now();
      const look = () => {
        const articles = document.querySelectorAll('article');
        const place = articles.length > known && articles[0].querySelector('[style*="--ratio"]');
        const box = place && place.getBoundingClientRect();
        if (box && box.height > 0 && box.top >= 0 && box.top < height / 2) resolve(performance.now() - pressed);
        else requestAnimationFrame(look);
      };
      look();
    }, { once: true, capture: true });
  });
}`;
