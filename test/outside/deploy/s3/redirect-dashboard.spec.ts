import { readFile } from 'node:fs/promises';
import { describeInBrowser, launch } from '../../../support/browser/browser.ts';
import { decodedWidth, Visitor } from '../../../support/browser/visitor.ts';
import { type OwnService, startOwnService } from '../../../support/service.ts';
import { aCat, type TaskBody } from '../../../support/clients/api.ts';
import { sha256 } from '../../../support/clients/files.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith } from '../tools.ts';
import { CREDENTIALS, startVersityGateway } from './versitygw.ts';

const A_FILM = { model: 'sora-2', prompt: 'A train in fog', duration: 4, resolution: '720P' };

describeWith({ versitygw: 'go install github.com/versity/versitygw/cmd/versitygw@v1.8.0' }, 'with the bucket', () => {
  describeInBrowser('a dashboard whose files come from the bucket', () => {
    let server: Awaited<ReturnType<typeof startVersityGateway>>;
    let service: OwnService;
    let browser: Awaited<ReturnType<typeof launch>>;
    let visitor: Visitor;
    let picture: TaskBody;
    let film: TaskBody;
    const before = { ...process.env };

    beforeAll(async () => {
      Object.assign(process.env, CREDENTIALS);
      server = await startVersityGateway();
      const settings = {
        ...CREDENTIALS,
        STORAGE_URL: `s3://results?endpoint=${server.endpoint}`,
        FILE_DELIVERY: 'redirect',
      };
      [service, browser] = await Promise.all([startOwnService(settings), launch()]);
      const made = async (request: object) => {
        const { body } = await service.api.create(request);
        return service.api.untilFinal(body.task_id);
      };
      [picture, film] = await Promise.all([made(aCat), made(A_FILM)]);
      visitor = await Visitor.open(browser, service.baseUrl);
      await visitor.signIn(service.api.key as string);
    });
    afterAll(async () => {
      await browser?.close();
      await service?.close();
      await server?.stop();
      process.env = before;
    });

    it('shows pictures, plays and seeks films, and saves both', async () => {
      const { page } = visitor;
      const fromBucket: string[] = [];
      page.on('response', (response) => {
        if (response.url().startsWith(server.endpoint)) fromBucket.push(String(response.status()));
      });
      const saved = async () => {
        const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('d')]);
        return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
      };

      await visitor.goto(`/tasks/${picture.task_id}`);
      const { id, width, sha256: hash } = picture.result!.outputs[0]!;
      await eventually('the picture is shown', async () => {
        const shown = page.locator(`img[src*="/v1/files/${id}/content"]`).first();
        return (await shown.evaluate(decodedWidth)) === width;
      });
      expect(fromBucket.length).toBeGreaterThan(0);
      const file = await saved();
      expect([file.name, sha256(file.bytes)]).toEqual([`${id}.png`, hash]);

      await visitor.goto(`/tasks/${film.task_id}`);
      const player = page.locator('video');
      await eventually('the film is loaded', () =>
        player.evaluate((element) => (element as unknown as { readyState: number }).readyState >= 2),
      );
      await player.evaluate((element) => ((element as unknown as { currentTime: number }).currentTime = 2));
      await eventually('the film has sought', () =>
        player.evaluate((element) => {
          const { currentTime, seeking } = element as unknown as { currentTime: number; seeking: boolean };
          return currentTime === 2 && !seeking;
        }),
      );
      const output = film.result!.outputs[0]!;
      const movie = await saved();
      expect([movie.name, sha256(movie.bytes)]).toEqual([`${output.id}.mp4`, output.sha256]);
      expect(page.url()).toContain(film.task_id); // a download that navigates would have left the page
      expect(visitor.problems.filter((each) => !each.startsWith(`left the origin: ${server.endpoint}/`))).toEqual([]);
    });
  });
});
