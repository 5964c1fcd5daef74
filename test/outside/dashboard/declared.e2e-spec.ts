// Own settings: the declarations of the examples, which the sandbox serves.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { Visitor } from '../../support/browser/visitor.ts';
import { Api } from '../../support/clients/api.ts';
import { type Example, examplesFor, writeExamples } from '../../support/declared-examples.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

type Json = Record<string, any>;
const PROMPT = 'a fox #fail:provider_rejected';

describeInBrowser('the form of a declared model', () => {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-form-'));
  let service: OwnService;
  let api: Api;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  let examples: Example[];

  beforeAll(async () => {
    writeExamples(folder);
    [service, browser] = await Promise.all([
      startOwnService({ MODELS: folder, MODELS_SANDBOX: 'true', TASK_SWEEP_S: '0.3' }),
      launch(),
    ]);
    const scopes = ['generations:write', 'tasks:read', 'tasks:cancel'];
    const { body } = await service.api.call<Json>('POST', '/v1/api_keys', { name: 'x', scopes, models: ['*'] });
    api = new Api(service.baseUrl, body.key);
    examples = await examplesFor(api);
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(api.key!);
    await visitor.openDrawer('Settings');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    rmSync(folder, { recursive: true });
  });

  const field = (name: string) => visitor.page.locator(`[data-field="${name}"]`);

  async function choose(model: string): Promise<void> {
    await visitor.page.getByRole('combobox', { name: 'Model' }).selectOption(model);
    const more = visitor.page.locator('details', { has: visitor.page.locator('summary', { hasText: 'More options' }) });
    if ((await more.getAttribute('open')) === null) await more.locator('summary').click();
  }

  async function set(name: string, value: unknown): Promise<void> {
    const images = [value].flat().filter((each) => String(each).startsWith('file_'));
    for (const image of images) {
      await field(name).getByRole('button', { name: 'URL', exact: true }).click();
      await field(name).getByRole('textbox').fill(String(image));
      await field(name).getByRole('button', { name: 'Add', exact: true }).click();
    }
    if (images.length > 0) return;
    const [numbers, choice] = [field(name).locator('input[type=number]'), field(name).locator('select')];
    if (name === 'size') {
      for (const [at, side] of String(value).split('x').entries()) await numbers.nth(at).fill(side);
    } else if ((await field(name).getByRole('radio').count()) > 0) {
      const words = typeof value === 'boolean' ? (value ? 'On' : 'Off') : String(value);
      await field(name).locator('label').getByText(words, { exact: true }).click();
    } else if ((await choice.count()) > 0) await choice.selectOption(String(value));
    else await field(name).locator('input, textarea').first().fill(String(value));
  }

  async function newest(): Promise<Json> {
    const { body } = await api.get<{ data: Json[] }>('/v1/tasks?limit=1');
    return body.data[0] ?? {};
  }

  it('has a field for each parameter, and makes the same task as every other interface', async () => {
    for (const { model, input } of examples) {
      const before = await newest();
      await choose(model);
      for (const [name, value] of Object.entries(input)) await set(name, value);
      await visitor.page.locator('textarea[name=prompt]').fill(PROMPT);
      await visitor.page.keyboard.press('Control+Enter');
      const task = await eventually(`a task of ${model}`, async () => {
        const task = await newest();
        return task.task_id !== before.task_id && task;
      });
      expect([model, task.input]).toEqual([model, { prompt: PROMPT, ...input }]);
      await visitor.goto('/settings'); // the form would keep its draft
      await visitor.page.evaluate('sessionStorage.clear()');
      await visitor.goto('/create');
      await visitor.openDrawer('Settings');
    }
    expect(visitor.problems).toEqual([]);
  }, 300_000);

  it('shows beside a field what the service says of it', async () => {
    await choose('qwen-image');
    await set('negative_prompt', 'x'.repeat(2001));
    await visitor.page.locator('textarea[name=prompt]').fill(PROMPT);
    const before = await newest();
    await visitor.page.keyboard.press('Control+Enter');
    await field('negative_prompt').getByRole('alert').getByText('2000').waitFor();
    expect((await newest()).task_id).toBe(before.task_id);
  });
});
