import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { decodedWidth, Visitor } from '../../support/browser/visitor.ts';

interface Task {
  task_id: string;
  status: string;
  result: { outputs: { id: string; sha256: string }[] };
}

describeInBrowser('looking at what was made', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let film: Task;
  let pictures: Task;

  const call = async (path: string, body?: object): Promise<Task> => {
    const response = await fetch(service.baseUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${service.api.key}`, 'content-type': 'application/json', prefer: 'wait=60' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Task;
  };

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    [film, pictures] = await Promise.all([
      call('/v1/generations', { model: 'sora-2', prompt: 'A train in fog', duration: 3, resolution: '720P' }),
      call('/v1/generations', { model: 'gpt-image-2', prompt: 'A fox asleep', n: 3 }),
    ]);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    await browser.close();
  });

  it('plays a film, seeks by ranges, steps by frames, changes speed, and downloads the right bytes', async () => {
    const { page } = visitor;
    await visitor.goto(`/tasks/${film.task_id}`);
    const player = page.locator('video');
    const state = () =>
      player.evaluate((element) => {
        const { currentTime, paused, playbackRate, loop } = element as unknown as Record<string, number>;
        return { currentTime: Number(currentTime), paused: Boolean(paused), playbackRate, loop };
      });
    const isReady = () => player.evaluate((element) => (element as unknown as { readyState: number }).readyState >= 2);
    await eventually('the film is loaded', isReady);

    await player.evaluate((element) => ((element as unknown as { currentTime: number }).currentTime = 2));
    await eventually('the film has sought', async () => (await state()).currentTime === 2);
    await page.keyboard.press('.');
    expect((await state()).currentTime).toBeCloseTo(2 + 1 / 24, 2);
    await page.keyboard.press(',');
    expect((await state()).currentTime).toBeCloseTo(2, 2);
    await page.getByLabel('Speed').selectOption('0.5');
    await page.getByRole('button', { name: 'Loop' }).click();
    expect(await state()).toMatchObject({ playbackRate: 0.5, loop: false });

    const url = (await player.getAttribute('src')) ?? '';
    const part = await fetch(service.baseUrl + url, { headers: { range: 'bytes=100-199' } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 100]);

    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('d')]);
    expect(download.suggestedFilename()).toBe(`${film.result.outputs[0]?.id}.mp4`);
    const bytes = await readFile(await download.path());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(film.result.outputs[0]?.sha256);
  });

  it('shows what is along a film, and goes there', async () => {
    const { page } = visitor;
    await visitor.goto(`/tasks/${film.task_id}?view=full`);
    const dialog = page.getByRole('dialog', { name: 'Film' });
    const player = dialog.locator('video');
    const along = dialog.getByRole('group', { name: 'Along the film' });
    await along.getByRole('button').nth(5).click();
    const at = () => player.evaluate((element) => (element as unknown as { currentTime: number }).currentTime);
    await eventually('the film is there', async () => Math.abs((await at()) - (5.5 / 10) * 3) < 0.1);
    expect((await player.boundingBox())?.height).toBeGreaterThan(0.7 * 860); // the film has all room, too
    const isDrawn = () =>
      along
        .locator('canvas')
        .last()
        .evaluate((element) => {
          const { width, height, getContext } = element as unknown as {
            width: number;
            height: number;
            getContext(of: '2d'): { getImageData(...area: number[]): { data: Uint8Array } };
          };
          return getContext
            .call(element, '2d')
            .getImageData(0, 0, width, height)
            .data.some((byte) => byte > 0);
        });
    await eventually('the last still is drawn', isDrawn);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('plays a film that is opened, unless motion is reduced', async () => {
    const opened = async ({ page }: Visitor) => {
      await page.locator(`[data-file="${film.result.outputs[0]!.id}"]`).click();
      const player = page.getByRole('dialog', { name: 'Film' }).locator('video');
      return () =>
        player.evaluate((element) => {
          const { paused, readyState } = element as unknown as { paused: boolean; readyState: number };
          return { isPaused: paused, isWhole: readyState === 4 }; // a browser that is to play begins with the whole film
        });
    };
    const moving = await Visitor.open(browser, service.baseUrl, { motion: true });
    await moving.enter(service.api.key as string);
    for (const each of [moving, visitor]) await each.goto('/gallery');
    const moved = await opened(moving);
    await eventually('the film plays', async () => !(await moved()).isPaused);
    const still = await opened(visitor);
    await eventually('the film is loaded', async () => (await still()).isWhole);
    expect((await still()).isPaused).toBe(true);
    await moving.close();
  });

  it('renews the link of a film that dies while it plays, and goes on at the same second', async () => {
    const { page } = visitor;
    await visitor.goto(`/tasks/${film.task_id}`);
    const player = page.locator('video');
    const state = () =>
      player.evaluate((element) => {
        const { currentTime, paused, readyState } = element as unknown as Record<string, number>;
        return { at: Number(currentTime), plays: !paused && Number(readyState) >= 3 };
      });
    await player.evaluate((element) => {
      const video = element as unknown as { muted: boolean; currentTime: number; play(): Promise<void> };
      video.muted = true;
      video.currentTime = 1.5;
      void video.play();
    });
    await eventually('the film plays', async () => (await state()).plays && (await state()).at > 1.6);
    visitor.requests.length = 0;
    // What the browser reports when an ended link refuses more bytes. A short film is read whole before that.
    const diedAt = await player.evaluate((element) => {
      const video = element as unknown as EventTarget & { currentTime: number; dataset: Record<string, string> };
      const { currentTime } = video;
      // Requests do not tell: a link that is renewed within a second is the same, and then the browser asks its cache.
      video.addEventListener('loadstart', () => (video.dataset['loads'] = 'again'));
      video.dispatchEvent(new Event('error'));
      return currentTime;
    });
    await eventually('the film loads again', async () => (await player.getAttribute('data-loads')) === 'again');
    // Beside it the page loads its other parts ahead.
    expect(visitor.requests.find((request) => !request.includes('/app/assets/'))).toBe('POST /graphql');
    await eventually('the film plays on', async () => (await state()).plays && (await state()).at >= diedAt);
    expect((await state()).at).toBeLessThan(diedAt + 1.5);
  });

  it('opens over the whole screen from a task and from Create, and leads back to where it was', async () => {
    const { page } = visitor;
    await visitor.goto(`/tasks/${pictures.task_id}`);
    await page.getByRole('button', { name: 'Full screen' }).click();
    const dialog = page.getByRole('dialog', { name: 'Picture' });
    await dialog.getByText('1 / 3').waitFor();
    await page.keyboard.press('ArrowRight');
    await dialog.getByText('2 / 3').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();

    await visitor.goto('/create');
    await page.locator('textarea[name=prompt]').fill('Seen whole');
    await page.keyboard.press('Control+Enter');
    const strip = page.getByRole('article').first();
    await strip.locator('img').first().click();
    await page.waitForURL('**/create?view=file_*');
    await dialog.getByText('1 / 1').waitFor();
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    await strip.getByText('Seen whole').waitFor();
  });

  it.each([
    ['a task', () => `/tasks/${pictures.task_id}`, 'Outputs'],
    ['Compare', () => `/compare?outputs=${pictures.result.outputs.map(({ id }) => id).join(',')}`, 'Output 1'],
  ])(
    'says on the page of %s how large a picture is shown, and shows it at 100 and at 200 %',
    async (_, path, region) => {
      const { page } = visitor;
      await visitor.goto(path());
      const picture = page.getByRole('region', { name: region }).locator('img').first();
      await picture.evaluate(decodedWidth);
      const real = async () => {
        const box = (await picture.boundingBox()) ?? { width: 0, height: 0 };
        return Math.round((Math.min(box.width, box.height) / 1_024) * 100);
      };
      const zoom = page.getByRole('button', { name: /^Zoom: / });
      const said = async () => Number(/\d+/.exec((await zoom.textContent()) ?? '')?.[0]);
      await eventually(
        'the zoom of the picture as it fits',
        async () => Math.abs((await said()) - (await real())) <= 1,
      );
      expect(await said()).toBeLessThan(100);
      for (const wanted of [100, 200]) {
        await zoom.click();
        await page.getByRole('menuitem', { name: `${wanted} %` }).click();
        await eventually('the wanted zoom', async () => (await said()) === wanted && (await real()) === wanted);
      }
      await page.keyboard.press('0');
      await eventually('it fits again', async () => (await said()) < 100);
    },
  );

  it('compares two outputs by a slider that arrows move, side by side, and by blinking', async () => {
    const { page } = visitor;
    await visitor.goto(`/tasks/${pictures.task_id}?output=1`);
    await page.getByRole('button', { name: 'Compare with' }).click();
    await page.getByRole('menuitem', { name: 'Output 3' }).click();
    await page.waitForURL(`**compare=${pictures.result.outputs[2]?.id}`);
    const slider = page.getByRole('slider', { name: 'Border between the pictures' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    expect(await slider.inputValue()).toBe('49');

    await page.getByRole('button', { name: 'Side by side' }).click();
    await page.keyboard.press('+');
    const transforms = await page
      .getByRole('region', { name: 'Outputs' })
      .locator('img[alt*="picture"], img[alt*="output 1"]')
      .evaluateAll((images) =>
        images.map((image) => (image as unknown as { style: { transform: string } }).style.transform),
      );
    expect(transforms).toHaveLength(2);
    expect(new Set(transforms).size).toBe(1);
    expect(transforms[0]).toContain('scale(1.25)');

    await page.getByRole('button', { name: /^Blink/ }).click();
    await page.keyboard.down('b');
    await page.getByText('The other', { exact: true }).waitFor();
    await page.keyboard.up('b');
    await page.getByText('hold b for the other').waitFor();
    await page.getByRole('button', { name: 'End the comparison' }).click();
    await page.waitForURL((url) => !url.search.includes('compare'));
    expect(visitor.problems).toEqual([]);
  });

  it('says how long a task ran as exactly as its timeline', async () => {
    const { page } = visitor;
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('query TaskDetail')) return route.fallback();
      const json = (await (await route.fetch()).json()) as {
        data: { task: { timeline: { type: string; atMs: number }[] } };
      };
      const { timeline } = json.data.task;
      timeline.at(-1)!.atMs = timeline.find(({ type }) => type === 'STARTED')!.atMs + 1_460;
      return route.fulfill({ json });
    });
    await visitor.goto(`/tasks/${pictures.task_id}`);
    await page.getByRole('region', { name: 'Facts' }).getByText('1.5 s', { exact: true }).waitFor();
    await page.unroute('**/graphql');
  });

  it('shows every input with the defaults, the request as code, and asks before it deletes', async () => {
    const { page } = visitor;
    await visitor.goto(`/tasks/${pictures.task_id}?tab=input`);
    await page.getByText('output_compression', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Input' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('No webhook was sent for this task').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'The request in curl' }).getByText('A fox asleep').waitFor();
    await page.waitForURL('**tab=code**');

    const { task_id: doomed } = await call('/v1/generations', { model: 'gpt-image-2', prompt: 'Not for long' });
    await visitor.goto(`/tasks/${doomed}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete with its files' }).click();
    await page.getByRole('button', { name: 'Delete task and 1 file' }).click();
    await page.getByText('The task and its files are deleted.').waitFor();
    await page.waitForURL((url) => url.pathname.endsWith('/tasks'));
    expect(await call(`/v1/tasks/${doomed}`)).toMatchObject({ error: { code: 'task_not_found' } });
  });

  it('compares tasks beside one another, and marks the inputs that differ', async () => {
    const { page } = visitor;
    await visitor.goto(`/compare?outputs=${pictures.result.outputs[1]?.id}&tasks=${film.task_id}`);
    await page.getByRole('region', { name: 'Output 2' }).locator('video').waitFor();
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
    await row('prompt differs').waitFor();
    await page.getByRole('button', { name: 'Next output of 1' }).click();
    await page.waitForURL(`**outputs=${pictures.result.outputs[2]?.id},**`);
    await page.getByRole('button', { name: 'Full screen of 1' }).click();
    const dialog = page.getByRole('dialog', { name: /Picture|Film/ });
    await dialog.getByText('1 / 2').waitFor();
    await page.keyboard.press('ArrowRight');
    await dialog.getByText('2 / 2').waitFor();
    await dialog.locator('video').waitFor();
    await page.waitForURL('**view=2');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.waitForURL((url) => !url.search.includes('view'));
    await page.getByRole('button', { name: 'Play together' }).click();
    await eventually('the film plays', () =>
      page.locator('video').evaluate((element) => (element as unknown as { currentTime: number }).currentTime > 0),
    );

    await visitor.goto(`/compare?outputs=${pictures.result.outputs[0]?.id},${pictures.result.outputs[1]?.id}`);
    await page.getByRole('button', { name: /^Show \d+ equal inputs$/ }).waitFor();
    expect(await row('model').count()).toBe(0);
    await page.getByRole('button', { name: /^Show/ }).click();
    await row('model').waitFor();
    await page.getByRole('button', { name: 'Hide equal inputs' }).click();
    await row('model').waitFor({ state: 'detached' });
    expect(visitor.problems).toEqual([]);
  });

  it('tells screen readers in one polite region how a task goes', async () => {
    const { page } = visitor;
    await visitor.goto('/create');
    await page.locator('textarea[name=prompt]').fill('Heard by ear #delay:1');
    await page.keyboard.press('Control+Enter');
    const region = page.getByRole('status', { name: 'Progress' });
    await region.getByText('Succeeded: Heard by ear').waitFor();
    expect(await page.locator('[aria-live=assertive], [role=alert]').count()).toBe(0);
  });
});
