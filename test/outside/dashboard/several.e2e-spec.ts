import { eventually } from '../../support/wait.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { Visitor } from '../../support/browser/visitor.ts';

describeInBrowser('several tasks of one form', () => {
  let service: SharedService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;

  beforeAll(async () => {
    [service, browser] = await Promise.all([joinService(), launch()]);
    visitor = await Visitor.open(browser, service.baseUrl, { motion: true });
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    await browser.close();
  });

  const tasks = async () => {
    const response = await fetch(`${service.baseUrl}/v1/tasks?limit=100`, {
      headers: { authorization: `Bearer ${service.api.key}` },
    });
    return ((await response.json()) as { data: { model: string; task_id: string; input: Record<string, unknown> }[] })
      .data;
  };

  it('makes one task a run on each chosen model, with what each model has', async () => {
    const { page } = visitor;
    await page.locator('textarea[name=prompt]').fill('A harbour at noon');
    await visitor.openDrawer('Settings');
    await page.getByRole('radiogroup', { name: 'Quality' }).getByText('high').click();
    await page.getByText('Several at once').click();
    await page.getByLabel('nano-banana-2').check();
    await page.getByText('nano-banana-2 has no quality').waitFor();
    await page.getByRole('button', { name: 'More: Repeat' }).click();
    await page.getByRole('button', { name: 'Generate 4', exact: true }).click();
    // One press is one strip, with a tile of each task that says which model made it.
    const strip = page.getByRole('article');
    await eventually('four pictures', async () => (await strip.first().locator('img').count()) === 4);
    expect(await strip.count()).toBe(1);
    await strip.getByText('nano-banana-2').first().waitFor();
    await visitor.openDrawer('Code'); // one click away, whatever lies on the table
    await page.getByRole('region', { name: /^The request in/ }).waitFor();
    const made = await tasks();
    expect(made.map(({ model }) => model).toSorted()).toEqual([
      'gpt-image-2',
      'gpt-image-2',
      'nano-banana-2',
      'nano-banana-2',
    ]);
    // One press leads to all four beside one another.
    await page.getByRole('link', { name: 'Compare 4' }).press('Enter');
    await page.waitForURL('**/app/compare?tasks=task_*');
    await page.getByRole('region', { name: 'Output 4' }).locator('img').waitFor();
    expect(new URL(page.url()).searchParams.get('tasks')?.split(',').toSorted()).toEqual(
      made.map(({ task_id: id }) => id).toSorted(),
    );
    expect(made.map(({ input }) => input['quality']).toSorted()).toEqual(['high', 'high', undefined, undefined]);
  });

  it('takes a reference from what was made, and says from which task a variation comes', async () => {
    const { page } = visitor;
    const [{ task_id: parent } = { task_id: '' }] = await tasks();
    await visitor.goto(`/create?from=${parent}&as=edit`);
    await page.getByText('A harbour at noon').first().waitFor();
    await visitor.openDrawer('Settings');
    await page.getByRole('button', { name: 'Gallery' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'A harbour at noon' }).first().click();
    const reference = page.getByRole('img', { name: 'Reference images 1' });
    await reference.waitFor();
    await page.locator('textarea[name=prompt]').fill('A harbour at night');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('article', { name: 'A harbour at night' }).first().getByText('Succeeded').waitFor();
    const response = await fetch(`${service.baseUrl}/v1/tasks?parent_task_id=${parent}`, {
      headers: { authorization: `Bearer ${service.api.key}` },
    });
    const { data } = (await response.json()) as { data: { input: { reference_images?: string[] } }[] };
    expect(data[0]?.input.reference_images).toHaveLength(1);
    expect(visitor.problems).toEqual([]);
  });
});
