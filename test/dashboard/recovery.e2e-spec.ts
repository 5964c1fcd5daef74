import { cloneDatabase } from '../support/database.ts';
import { testEnv } from '../support/app.ts';
import { spawnService } from '../support/process.ts';
import { describeInBrowser, launch } from './support/browser.ts';
import { Visitor } from './support/visitor.ts';

describeInBrowser('the dashboard while the service restarts', () => {
  it('is right again without a reload, and neither loses nor doubles a row', async () => {
    const database = await cloneDatabase();
    const { env } = await testEnv(database.url, { TASK_LEASE_S: '5', TASK_HEARTBEAT_S: '1' });
    const [first, browser] = await Promise.all([spawnService(env), launch()]);
    let service = first;
    try {
      const baseUrl = env['PUBLIC_URL'] as string;
      const visitor = await Visitor.open(browser, baseUrl);
      await visitor.signIn(env['BOOTSTRAP_API_KEY'] as string);
      await visitor.page.locator('textarea[name=prompt]').fill('Through a restart #delay:4');
      await visitor.page.keyboard.press('Control+Enter');
      const card = visitor.page.getByRole('article').first();
      await card.getByText(/^Running/).waitFor();

      await service.kill('SIGKILL');
      await visitor.page.getByText(/^(Reconnecting|Connecting)/).waitFor();
      service = await spawnService(env);
      await visitor.page.getByText('Live', { exact: true }).waitFor();
      await card.getByText(/^(Succeeded|Failed)/).waitFor({ timeout: 90_000 });

      await visitor.page.getByRole('link', { name: 'Tasks' }).first().click();
      await visitor.page.getByRole('row').first().waitFor();
      expect(await visitor.page.getByText('Through a restart').count()).toBe(1);
      await visitor.close();
    } finally {
      await browser.close();
      await service.kill('SIGKILL');
      await database.drop();
    }
  });
});
