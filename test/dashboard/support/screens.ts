import { mkdirSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { describeInBrowser, launch } from './browser.ts';
import { seed } from './seed.ts';
import { type BuiltService, startBuilt } from './service.ts';
import { Visitor } from './visitor.ts';

const SHOTS = new URL('../../../coverage/shots/', import.meta.url).pathname;
const WIDTHS = [360, 768, 1280, 1920];
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Each screen in four widths. A file for each theme calls it, so that they run side by side. */
export function describeScreens(theme: 'light' | 'dark'): void {
  describeInBrowser(`the screens of the dashboard in the ${theme} theme`, () => {
    let service: BuiltService;
    let browser: Awaited<ReturnType<typeof launch>>;
    let screens: [name: string, path: string, heading: string][];

    beforeAll(async () => {
      mkdirSync(SHOTS, { recursive: true });
      [service, browser] = await Promise.all([startBuilt(), launch()]);
      const { picture, film, failed, endpointId, eventId, keyId } = await seed(
        service.baseUrl,
        service.api.key as string,
      );
      screens = [
        ['create', '/create', 'Create'],
        ['tasks', '/tasks', 'Tasks'],
        ['tasks-filtered', '/tasks?status=failed&error=provider_timeout&meta.order=1042', 'Tasks'],
        ['tasks-none', '/tasks?status=running', 'Tasks'],
        ['task', `/tasks/${picture}`, 'Succeeded'],
        ['task-film', `/tasks/${film}`, 'Succeeded'],
        ['task-failed', `/tasks/${failed}`, 'Failed'],
        ['task-unknown', '/tasks/task_01aaaaaaaaaaaaaaaaaaaaaaaa', 'Task'],
        ['compare', `/compare?tasks=${picture},${film}`, 'Compare'],
        ['gallery', '/gallery', 'Gallery'],
        ['connect', '/connect', 'Connect'],
        ['keys', '/keys', 'API keys'],
        ['key', `/keys/${keyId}`, 'key'],
        ['key-new', '/keys/new', 'New API key'],
        ['webhooks', '/webhooks', 'Webhooks'],
        ['webhook-new', '/webhooks/new', 'New endpoint'],
        ['event', `/webhooks/${endpointId}/events/${eventId}`, 'task.'],
        ['endpoint', `/webhooks/${endpointId}`, '127.0.0.1'],
        ['queue', '/queue', 'Queue and workers'],
        ['providers', '/providers', 'Providers'],
        ['usage', '/usage', 'Usage'],
        ['usage-errors', '/usage?range=7d&by=error&view=table', 'Usage'],
        ['settings', '/settings', 'Settings'],
        ['about', '/settings/about', 'About'],
        ['unknown', '/nowhere', 'Nothing here'],
      ];
    });
    afterAll(async () => {
      await browser.close();
      await service.close();
    });

    it('fit four widths and pass axe', async () => {
      const visitor = await Visitor.open(browser, service.baseUrl, { theme, reducedMotion: true });
      const { page } = visitor;
      await visitor.signIn(service.api.key as string);
      const faults: string[] = [];
      for (const [name, path, heading] of screens) {
        await page.setViewportSize({ width: 1280, height: 860 });
        await visitor.goto(path);
        await page.getByRole('heading', { name: heading }).first().waitFor(); // of the page, or of a dialog over it
        await page.locator('[aria-busy]').waitFor({ state: 'detached' });
        await page.waitForTimeout(250); // until pictures are drawn
        const { violations } = await new AxeBuilder({ page })
          .options({ resultTypes: ['violations'] })
          .withTags(AXE_TAGS)
          .setLegacyMode() // no page of its own for each screen, which took most of the time; there are no frames
          .analyze();
        faults.push(
          ...violations.map(
            ({ id, nodes }) => `${name}: ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
          ),
        );
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 860 });
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          if (Number(overflow) > 0) faults.push(`${name}: ${String(overflow)} px too wide at ${width}`);
          await page.screenshot({ path: `${SHOTS}${name}-${width}-${theme}.png` });
        }
      }
      await visitor.close();
      expect(faults).toEqual([]);
      expect(visitor.problems.filter((problem) => !problem.includes('404'))).toEqual([]);
    });
  });
}
