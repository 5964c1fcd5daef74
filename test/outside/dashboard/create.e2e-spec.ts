import type { Locator, Request } from 'playwright-core';
import { busyness, eventually, leastOf } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { decodedWidth, HAS_FOCUS, Visitor } from '../../support/browser/visitor.ts';

/** From the press to the word on the screen. */
const CANCELLED_MS = 1_000;

const NASTY = `<script>alert(1)</script><img src=x onerror=alert(2)> "'\`\${7*7}{{7*7}} javascript:alert(3) \u202Eevil <svg onload=alert(4)>`;

describeInBrowser('making things on the dashboard', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let slow = 0;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
  });
  afterAll(async () => {
    await browser.close();
  });
  beforeEach(async () => {
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
    await visitor.openDrawer('Settings');
  });
  afterEach(async () => {
    const { problems } = visitor;
    await visitor.close();
    expect(problems).toEqual([]);
  });

  const prompt = () => visitor.page.locator('textarea[name=prompt]');
  const card = () => visitor.page.getByRole('article').first();
  async function generate(text: string) {
    await prompt().fill(text);
    await visitor.page.keyboard.press('Control+Enter');
  }

  /** The newest task of this prompt, as REST shows it. */
  const newest = (prompt: string) =>
    eventually(`a task "${prompt}"`, async () => {
      const { body } = await service.api.get<{
        data: { task_id: string; status: string; input: { prompt: string } }[];
      }>('/v1/tasks?limit=1');
      const [task] = body.data;
      return task?.input.prompt === prompt && { id: task.task_id, status: task.status };
    });
  /** The prompts of the newest tasks that begin so. */
  const promptsLike = async (start: string): Promise<string[]> => {
    const { body } = await service.api.get<{ data: { input: { prompt: string } }[] }>('/v1/tasks?limit=20');
    return body.data.map(({ input }) => input.prompt).filter((prompt) => prompt.startsWith(start));
  };
  async function runningCard() {
    await card()
      .getByText(/^Running/)
      .waitFor();
    await visitor.page.evaluate('document.activeElement.blur()');
  }

  it('shows a picture live, by the socket alone', async () => {
    await generate('A lighthouse at dusk #delay:1');
    await card()
      .getByText(/^Running/)
      .waitFor();
    await eventually('the title of the tab', async () =>
      /^\d+ % · A lighthouse at dusk/.test(await visitor.page.title()),
    );
    const asked: string[] = [];
    visitor.page.on('request', (request) => asked.push(request.postData() ?? ''));
    await card().getByText('Succeeded').waitFor();
    const picture = card().locator('img');
    await picture.waitFor();
    expect(await picture.evaluate(decodedWidth)).toBeGreaterThan(500);
    // Only the number of unfinished tasks in the menu is asked for.
    expect(asked.filter((body) => body.includes('query') && !body.includes('TaskCounts'))).toEqual([]);
  });

  it('follows the rules between the parameters of a model, and says why', async () => {
    await visitor.page.getByRole('combobox', { name: 'Model' }).selectOption('seedance-2');
    await visitor.page.getByRole('radiogroup', { name: 'Reference mode' }).getByText('first_frame').click();
    await prompt().fill('A walk');
    await visitor.page.keyboard.press('Control+Enter');
    await visitor.page.getByText('First frame image is required.').waitFor();
    expect(await visitor.page.getByRole('article').count()).toBe(0);
  });

  it('keeps, maps and resets values at a change of the model, with Undo', async () => {
    await visitor.page.getByRole('radiogroup', { name: 'Resolution' }).getByText('4K').click();
    await prompt().fill('A kite');
    await visitor.page.getByRole('combobox', { name: 'Model' }).selectOption('seedance-2');
    await visitor.page.getByText('Resolution 4K → 720p: seedance-2 has no 4K').waitFor();
    expect(await prompt().inputValue()).toBe('A kite');
    await visitor.page.getByRole('button', { name: 'Undo' }).click();
    expect(await visitor.page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('gpt-image-2');
  });

  it('keeps the place of a film in its shape from the press to its end, and counts whole seconds', async () => {
    await visitor.page.getByRole('combobox', { name: 'Model' }).selectOption('sora-2');
    const ratio = async (of: string) => {
      const box = await card().locator(of).first().boundingBox();
      return (box?.width ?? 0) / (box?.height ?? 1);
    };
    await visitor.page.locator('[data-field=duration] input[type=number]').fill('1');
    await visitor.page.getByRole('radiogroup', { name: 'Resolution' }).getByText('720P').click();
    await generate('A quay');
    await card().locator('[data-tile]').waitFor();
    expect(await ratio('[data-tile]')).toBeCloseTo(16 / 9, 1);
    await generate('A pier #hang');
    await runningCard();
    expect(await ratio('[style*="--ratio"]')).toBeCloseTo(16 / 9, 1);
    // The service tells seconds: tenths of them would be made up.
    expect(
      await card()
        .getByText(/\d\.\d s/)
        .count(),
    ).toBe(0);
    await visitor.page.keyboard.press('c');
    await card().getByText('Cancelled').waitFor();
  });

  it('carries a reference over to a model of films, and names no field', async () => {
    await generate('A cup');
    await card().getByText('Succeeded').waitFor();
    await card().locator('img').hover();
    await card().getByRole('link', { name: 'Use as reference' }).click();
    await visitor.page.getByRole('img', { name: 'Reference images 1' }).waitFor();
    await visitor.page.getByRole('combobox', { name: 'Model' }).selectOption('seedance-2');
    await visitor.page.getByRole('img', { name: 'First frame image 1' }).waitFor();
    expect(await visitor.page.getByText('reference_images').count()).toBe(0);
  });

  it('gives the newest picture most of the screen, with the code one click away', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Close Settings' }).click();
    // Neither the names of the API nor what steers the sandbox stand in the way of who only wants a picture.
    expect(await page.getByText('aspect_ratio').count()).toBe(0);
    await page.getByRole('button', { name: /^Aspect ratio: / }).click();
    await page.locator('[data-field=aspect_ratio]').waitFor();
    expect(await page.getByText('aspect_ratio').count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await page.getByText('#delay:5').count()).toBe(0);
    await page.getByRole('button', { name: 'What the sandbox understands' }).click();
    await page.getByText('#delay:5').waitFor();
    await generate('A lighthouse');
    await card().locator('img').first().evaluate(decodedWidth);
    expect((await card().locator('img').first().boundingBox())?.height).toBeGreaterThanOrEqual(0.6 * 900);
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    await page.getByRole('region', { name: 'The request in curl' }).getByText('A lighthouse').waitFor();
  });

  it('cuts no chip on a wide screen, and shows on a phone that the row has more', async () => {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Close Settings' }).click();
    const values = { output_format: 'jpeg', output_compression: 80, n: 4 };
    const draft = { model: 'gpt-image-2', values, owner: service.keyId };
    await page.setViewportSize({ width: 1440, height: 900 });
    await visitor.goto('/settings'); // the form would keep its draft
    await page.evaluate(`sessionStorage.setItem('darkroom.draft', '${JSON.stringify(draft)}')`);
    await visitor.goto('/create');
    const chips = page.getByRole('toolbar', { name: 'Settings of the request' });
    await chips.getByRole('button', { name: 'Output compression: 80' }).waitFor();
    const cut = () => chips.evaluate(CUT_CHIPS);
    expect(await cut()).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await cut()).not.toEqual([]);
    expect(await chips.evaluate(MASK)).toContain('linear-gradient');
    await chips.getByRole('button', { name: 'Presets' }).scrollIntoViewIfNeeded();
    expect(await cut()).not.toContain('Presets');
    await page.setViewportSize({ width: 1280, height: 860 });
    await visitor.openDrawer('Settings');
    expect(await cut()).toEqual([]);
  });

  it('varies a picture by one press, and makes a film of it by two', async () => {
    const { page } = visitor;
    await generate('A fox');
    await card().getByText('Succeeded').waitFor();
    await card().locator('img').first().hover();
    await card().getByRole('button', { name: 'Vary' }).click();
    await eventually('a second strip', async () => (await page.getByRole('article').count()) === 2);
    await card().getByText('Succeeded').waitFor();
    const { id } = await newest('A fox');
    const varied = await service.api.get<{ input: { reference_images?: string[] }; parent_task_id: string }>(
      `/v1/tasks/${id}`,
    );
    expect(varied.body).toMatchObject({
      input: { reference_images: [expect.stringMatching(/^file_/)] },
      parent_task_id: expect.stringMatching(/^task_/),
    });

    await card().locator('img').first().hover();
    await card().getByRole('button', { name: 'Animate' }).click();
    expect(await prompt().evaluate(HAS_FOCUS)).toBe(true);
    await page.getByRole('button', { name: /^Generate/ }).click();
    await eventually('a third strip', async () => (await page.getByRole('article').count()) === 3);
    const film = await newest('A fox');
    const { body } = await service.api.get<{ kind: string; input: object }>(`/v1/tasks/${film.id}`);
    expect(body).toMatchObject({ kind: 'video', input: { first_frame_image_url: expect.stringMatching(/^file_/) } });
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('c');
  });

  it('makes a film of a picture from the viewer of the gallery and from its task', async () => {
    const { page } = visitor;
    await generate('A heron');
    await card().getByText('Succeeded').waitFor();
    const { id } = await newest('A heron');
    const { body } = await service.api.get<{ result: { outputs: { id: string }[] } }>(`/v1/tasks/${id}`);
    const fileId = body.result.outputs[0]!.id;
    const newestFilm = async () =>
      (await service.api.get<{ data: { task_id: string }[] }>('/v1/tasks?kind=video&limit=1')).body.data[0];
    for (const path of [`/gallery/${fileId}`, `/tasks/${id}`]) {
      await visitor.goto(path);
      const more = page.getByRole('button', { name: 'More actions' });
      if (path.startsWith('/tasks')) await more.click();
      await page.getByRole(path.startsWith('/tasks') ? 'menuitem' : 'button', { name: 'Animate' }).click();
      await page.getByRole('button', { name: 'First frame image: 1' }).waitFor();
      expect(await prompt().inputValue()).toBe('A heron');
      // The form has the picture, so the address forgets it, and leaves no place of its own on the way back.
      await page.waitForURL('**/app/create');
      await page.goBack();
      await page.waitForURL(`**/app${path}`);
      await page.goForward();
      await page.getByRole('button', { name: 'First frame image: 1' }).waitFor();
      expect(await prompt().inputValue()).toBe('A heron');
      const before = await newestFilm();
      await page.getByRole('button', { name: /^Generate/ }).click();
      const film = await eventually('the film', async () => {
        const film = await newestFilm();
        return film?.task_id !== before?.task_id && film;
      });
      expect(film).toMatchObject({ parent_task_id: id, input: { prompt: 'A heron', first_frame_image_url: fileId } });
    }
    await visitor.goto(`/gallery/${fileId}`);
    const made = page.getByRole('region', { name: 'Made of this' }).getByRole('link');
    await eventually('both films', async () => (await made.count()) === 2);
  });

  it('takes two quick presses as one, unless the form has changed between them', async () => {
    // In the page, so that no time passes between the presses.
    await visitor.page.evaluate(`(() => {
      const prompt = document.querySelector('textarea[name=prompt]');
      const press = () => prompt.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }));
      const type = (text) => {
        Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(prompt, text);
        prompt.dispatchEvent(new Event('input', { bubbles: true }));
      };
      type('Pressed quickly, first');
      press();
      press();
      type('Pressed quickly, second');
      press();
    })()`);
    const strips = visitor.page.getByRole('article');
    await eventually('two strips', async () => (await strips.count()) >= 2);
    expect(await strips.count()).toBe(2);
    // Both are sent at the same time, so either may be created first.
    await eventually('two tasks', async () => (await promptsLike('Pressed quickly')).length >= 2);
    expect((await promptsLike('Pressed quickly')).toSorted()).toEqual([
      'Pressed quickly, first',
      'Pressed quickly, second',
    ]);
  });

  it('acts once for a key that is held', async () => {
    const { page } = visitor;
    await prompt().fill('Held down');
    const times = 5; // as many as a second of holding, and longer than two presses that count as one
    for (let nth = 0; nth < times; nth += 1) {
      await page.keyboard.down('Control');
      await page.keyboard.down('Enter'); // after the first a repetition
      await page.waitForTimeout(150);
    }
    await page.keyboard.up('Enter');
    await page.keyboard.up('Control');
    await card().getByText('Succeeded').waitFor();
    await page.evaluate('document.activeElement.blur()');
    for (let nth = 0; nth < times; nth += 1) await page.keyboard.down('v');
    await page.keyboard.up('v');
    await eventually('the variation', async () => (await page.getByRole('article').count()) === 2);
    await card().getByText('Succeeded').waitFor();
    await card().getByRole('button', { name: 'Run again' }).focus();
    for (let nth = 0; nth < times; nth += 1) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await eventually('the next run', async () => (await page.getByRole('article').count()) === 3);
    await card().getByText('Succeeded').waitFor();
    expect(await promptsLike('Held down')).toHaveLength(3);
    // In the page, so that the table does not scroll the button away from the second click.
    await card()
      .getByRole('button', { name: 'Run again' })
      .evaluate((button) => {
        const it = button as unknown as { click(): void };
        it.click();
        it.click();
      });
    await eventually('the run of the double click', async () => (await page.getByRole('article').count()) === 4);
    await card().getByText('Succeeded').waitFor();
    expect(await promptsLike('Held down')).toHaveLength(4);
  });

  it('takes a deleted task from the table, and offers nothing that needs a deleted picture', async () => {
    const { page } = visitor;
    await generate('Soon deleted');
    await card().getByText('Succeeded').waitFor();
    const { id } = await newest('Soon deleted');
    const file = `file_${id.slice('task_'.length)}_0`;
    const viewer = page.getByRole('dialog', { name: 'Picture' });
    const name = /^(Vary|Animate|Use as reference|Download)$/;
    const needsPicture = (place: Locator) =>
      place.getByRole('button', { name }).or(place.getByRole('link', { name })).count();
    expect(await needsPicture(card())).toBe(4);
    await service.api.call('DELETE', `/v1/files/${file}`);
    await page.reload();
    await card().getByText('Succeeded').waitFor();
    await card().getByRole('button', { name: 'Run again' }).waitFor();
    expect(await needsPicture(card())).toBe(0);
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('v');
    expect(await page.getByRole('article').count()).toBe(1);
    await card().locator(`[data-tile="${file}"] a`).click();
    await viewer.getByRole('button', { name: 'Edit' }).waitFor();
    expect(await needsPicture(viewer)).toBe(0);

    await visitor.goto('/gallery?expired=1');
    const tile = page.locator(`[data-file="${file}"]`);
    const bar = page.getByRole('toolbar', { name: 'Selection' });
    await tile.focus();
    await page.keyboard.press('u');
    await page.keyboard.press('x');
    await bar.getByText('1 selected').waitFor();
    expect(await needsPicture(bar)).toBe(0);
    await tile.click();
    await viewer.getByRole('button', { name: 'Locate' }).waitFor();
    expect(await needsPicture(viewer)).toBe(0);
    await page.keyboard.press('u');
    await page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
    await tile.waitFor();
    await visitor.goto('/create');
    await service.api.call('DELETE', `/v1/tasks/${id}`);
    await page.reload();
    await page.getByText('Describe a picture or a film').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
  });

  it('offers to send a request again whose answer a reload has cut off, and creates one task', async () => {
    const { page } = visitor;
    let isCut = true;
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('createGeneration(') || !isCut) return route.fallback();
      await route.fetch(); // the service gets it, the page gets no answer
      isCut = false;
    });
    await generate('Cut off by a reload');
    await newest('Cut off by a reload');
    await page.reload();
    await card().getByText('The page was loaded again before the answer came.').waitFor();
    await card().getByRole('button', { name: 'Send again' }).click();
    await card().getByText('Succeeded').waitFor();
    expect(await promptsLike('Cut off by a reload')).toHaveLength(1);
  });

  it('keeps its runs when an answer comes after Sign out, and shows no fault beside what was made', async () => {
    const { page } = visitor;
    const isCreation = (request: Request) => request.postData()?.includes('createGeneration(') ?? false;
    let answer = () => {};
    await page.route('**/graphql', async (route) => {
      if (!isCreation(route.request())) return route.fallback();
      const held = new Promise<void>((resolve) => (answer = resolve));
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    const answered = async () => {
      const arrived = page.waitForResponse((response) => isCreation(response.request()));
      answer();
      await (await arrived).finished();
    };
    const signOut = async () => {
      await page.locator('header').getByRole('button', { name: /dr_/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.locator('input[name=key]').waitFor();
    };
    const signIn = async () => {
      await page.locator('input[name=key]').fill(service.api.key as string);
      await page.keyboard.press('Enter');
      await fault.waitFor();
    };
    const fault = card().getByText('The page was loaded again before the answer came.');

    await generate('Answered while signed out');
    await newest('Answered while signed out');
    await signOut();
    await answered();
    await signIn();
    await card().getByText('Answered while signed out').waitFor();

    await generate('Answered after Sign out');
    await newest('Answered after Sign out');
    await signOut();
    await signIn();
    await answered();
    await card().getByText('Succeeded').waitFor();
    expect(await fault.count()).toBe(0);
    expect(await page.getByRole('article').count()).toBe(2);
  });

  it('shows another API key nothing of what this one has made and typed', async () => {
    const { page } = visitor;
    await generate('Of the first key');
    await card().getByText('Succeeded').waitFor();
    await prompt().fill('Half a sentence');
    const { body: other } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    await page.locator('header').getByRole('button', { name: /dr_/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.locator('input[name=key]').fill(other.key);
    await page.keyboard.press('Enter');
    await page.getByText('Describe a picture or a film').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    expect(await prompt().inputValue()).toBe('');
  });

  it('brings back what was asked for by ↑, and settings by their name', async () => {
    const { page } = visitor;
    await generate('The first of two');
    await card().waitFor();
    await generate('The second of two');
    await prompt().fill('');
    await page.keyboard.press('ArrowUp');
    expect(await prompt().inputValue()).toBe('The second of two');
    await page.keyboard.press('ArrowUp');
    expect(await prompt().inputValue()).toBe('The first of two');

    await page.getByRole('radiogroup', { name: 'Resolution' }).getByText('4K').click();
    await page.getByLabel('Name of the preset').fill('large');
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('radiogroup', { name: 'Resolution' }).getByText('1K').click();
    await page.reload();
    await visitor.openDrawer('Settings');
    await page.getByRole('button', { name: 'large', exact: true }).click();
    await page.getByRole('button', { name: 'Resolution: 4K' }).waitFor();
    expect(await prompt().inputValue()).toBe('The first of two');

    // They are also among the chips, for who has the drawer closed.
    await page.getByRole('button', { name: 'Close Settings' }).click();
    await page.getByRole('button', { name: 'Resolution: 4K' }).click();
    await page.getByRole('radiogroup', { name: 'Resolution' }).getByText('1K').click();
    await page.getByRole('button', { name: 'Presets', exact: true }).click();
    await page.getByRole('button', { name: 'large', exact: true }).click();
    await page.getByRole('button', { name: 'Resolution: 4K' }).waitFor();
    // To keep one there sends no request.
    let sent = 0;
    await page.route('**/graphql', (route) => {
      if (route.request().postData()?.includes('mutation')) sent += 1;
      return route.fallback();
    });
    await page.getByLabel('Name of the preset').fill('small');
    await page.getByLabel('Name of the preset').press('Enter');
    await page.getByRole('button', { name: 'small', exact: true }).waitFor();
    await page.getByLabel('Name of the preset').fill('other');
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('button', { name: 'other', exact: true }).waitFor();
    await page.unroute('**/graphql');
    expect(sent).toBe(0);
    await visitor.openDrawer('Settings');
  });

  it('keeps draft and runs over a reload', async () => {
    await generate('A map of a harbour');
    await card().getByText('Succeeded').waitFor();
    await prompt().fill('not sent yet');
    await visitor.page.reload();
    expect(await prompt().inputValue()).toBe('not sent yet');
    await card().getByText('A map of a harbour').waitFor();
    await card().locator('img').waitFor();
  });

  it('uses an upload and an own output as references', async () => {
    await generate('A cup');
    await card().getByText('Succeeded').waitFor();
    await card().locator('img').hover();
    await card().getByRole('link', { name: 'Use as reference' }).click();
    const png = await visitor.page.screenshot();
    await visitor.page
      .locator('[data-field=reference_images] input[type=file]')
      .setInputFiles({ name: 'shot.png', mimeType: 'image/png', buffer: png });
    await visitor.page.getByRole('img', { name: 'Reference images 2' }).waitFor();
    await visitor.page
      .locator('[data-field=reference_images] input[type=file]')
      .setInputFiles({ name: 'a.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') });
    await visitor.page.getByText('a.gif is no JPEG, PNG or WebP image.').waitFor();
    await generate('A cup, in snow');
    await card().getByText('A cup, in snow').waitFor();
    await card().getByText('Succeeded').waitFor();
  });

  it('says what happened when a task fails', async () => {
    await generate('Tea #fail:content_policy_violation');
    await card().getByText('The provider refused the content', { exact: true }).waitFor();
  });

  it.each<[way: string, open: (id: string) => Promise<void>, cancel: () => Promise<void>]>([
    ['its card', () => runningCard(), () => card().getByRole('button', { name: 'Cancel' }).click()],
    ['the key c', () => runningCard(), () => visitor.page.keyboard.press('c')],
    [
      'its page',
      async (id) => {
        await visitor.goto(`/tasks/${id}`);
        await visitor.page.getByRole('button', { name: /^Cancel/ }).waitFor();
      },
      () => visitor.page.getByRole('button', { name: /^Cancel/ }).click(),
    ],
    [
      'the list, by a selected row',
      async (id) => {
        await visitor.goto('/tasks');
        const row = visitor.page.getByRole('row').filter({ has: visitor.page.locator(`a[href$="${id}"]`) });
        await row.getByRole('checkbox').check();
        await visitor.page.getByRole('button', { name: 'Cancel 1 selected' }).click();
        await visitor.page.getByRole('dialog', { name: 'Cancel 1 task?' }).waitFor();
      },
      () => visitor.page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 task' }).click(),
    ],
  ])('cancels from %s within a second in both of two tabs', async (_way, open, cancel) => {
    const other = await visitor.context.newPage();
    const cancelledAfter = async () => {
      const words = `Slow ${++slow} #hang`; // of no task before, which would be taken for the new one until this is sent
      await generate(words);
      const { id } = await newest(words);
      await other.goto(`${service.baseUrl}/app/tasks/${id}`);
      await other.getByRole('button', { name: /^Cancel/ }).waitFor();
      await other.getByText('Live', { exact: true }).waitFor();
      await open(id);
      await visitor.page.getByText('Live', { exact: true }).waitFor();
      const shown = [
        visitor.page.getByText('Cancelled', { exact: true }).first().waitFor(),
        other.getByText('Cancelled', { exact: true }).first().waitFor(),
      ];
      const at = performance.now();
      await cancel();
      await Promise.all(shown);
      const took = performance.now() - at;
      expect(await newest(words)).toEqual({ id, status: 'failed' });
      await visitor.goto('/settings'); // the card would still say so
      await visitor.page.evaluate('sessionStorage.clear()');
      await visitor.goto('/create');
      return took;
    };
    const boundMs = CANCELLED_MS * busyness();
    expect(await leastOf(3, boundMs, cancelledAfter)).toBeLessThan(boundMs);
  });

  it('shows hostile texts as texts', async () => {
    await generate(NASTY);
    await card().getByText('<script>alert(1)</script>', { exact: false }).first().waitFor();
    await card().getByRole('link', { name: 'Task', exact: true }).click();
    await visitor.page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await visitor.page.getByRole('tab', { name: 'JSON' }).click();
    await visitor.page.getByRole('region', { name: 'The task as JSON' }).getByText('"prompt"').waitFor();
    await visitor.goto('/tasks');
    await visitor.page.getByText('<script>alert(1)</script>', { exact: false }).first().waitFor();
  });

  it('repeats a request whose connection was cut with the same key: one task', async () => {
    let cut = 0;
    await visitor.page.route('**/graphql', async (route) => {
      if (cut === 0 && (route.request().postData() ?? '').includes('CreateGeneration')) {
        cut++;
        await route.fetch();
        return route.abort('connectionreset');
      }
      return route.continue();
    });
    await generate('Only once');
    await card().getByText('Succeeded').waitFor();
    const response = await fetch(`${service.baseUrl}/v1/tasks?limit=100`, {
      headers: { authorization: `Bearer ${service.api.key}` },
    });
    const { data } = (await response.json()) as { data: { input: { prompt: string } }[] };
    expect(data.filter(({ input }) => input.prompt === 'Only once')).toHaveLength(1);
    expect(cut).toBe(1);
    visitor.problems.splice(
      0,
      visitor.problems.length,
      ...visitor.problems.filter((problem) => !problem.includes('ERR_CONNECTION_RESET')),
    );
  });

  it('can be used by keyboard alone, at 400 %', async () => {
    // 1280 px at 400 % are 320 px of CSS.
    const visitor = await Visitor.open(browser, service.baseUrl, { width: 320, height: 256 });
    const { page } = visitor;
    await visitor.enter(service.api.key as string);
    await page.locator('textarea[name=prompt]:focus').waitFor(); // without a click: the form takes the focus once it is drawn
    await page.keyboard.type('By keyboard alone');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article').getByText('By keyboard alone').waitFor();
    expect(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))).toBeLessThanOrEqual(0);
    await page.getByRole('article').getByText('Succeeded').waitFor();
    expect(await page.evaluate('document.getAnimations().filter((each) => each instanceof CSSAnimation).length')).toBe(
      0,
    );
    await visitor.close();
  });
});

/** The names of chips that lie partly outside their row. Runs in the page. */
function CUT_CHIPS(row: unknown): string[] {
  type Box = { left: number; right: number };
  type Seen = { ariaLabel: string | null; getBoundingClientRect(): Box; querySelectorAll(of: string): Iterable<Seen> };
  const { left, right } = (row as Seen).getBoundingClientRect();
  return [...(row as Seen).querySelectorAll('button')].flatMap((chip) => {
    const box = chip.getBoundingClientRect();
    return box.left < left - 0.5 || box.right > right + 0.5 ? [chip.ariaLabel ?? '?'] : [];
  });
}

const MASK = (row: unknown): string =>
  (globalThis as unknown as { getComputedStyle(of: unknown): { maskImage: string } }).getComputedStyle(row).maskImage;
