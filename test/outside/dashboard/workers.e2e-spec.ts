import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../../support/process.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { describeInBrowser, launch } from '../../support/browser/browser.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { Visitor } from '../../support/browser/visitor.ts';

/** A killed process is late after 12 s and lost after 30, and its tasks move when their leases end. */
const LOST_MS = 60_000;
/** Four tasks that begin anew, beside other tests. */
const ENDS_WITHIN_MS = 120_000;
/** Served at an address that nothing calls. */
const INK = `id: ink
kind: image
description: Drawings in ink.
parameters: { prompt: {} }
sizes: { table: { columns: [small], rows: { '1:1': [1024x1024] } } }
bindings: [{ provider: openai, base_url: 'http://ink.example/v1', model: ink-1, credential: INK_KEY }]
`;
/** More failures in a row than a circuit takes. */
const CALLS = 6;

describeInBrowser('the screens of operators', () => {
  const upstream = new OpenaiStub();
  const models = mkdtempSync(join(tmpdir(), 'darkroom-models-'));
  let service: OwnService;
  let browser: Awaited<ReturnType<typeof launch>>;
  let visitor: Visitor;
  const workers: ServiceProcess[] = [];

  beforeAll(async () => {
    await upstream.start();
    writeFileSync(join(models, 'ink.yaml'), INK);
    const provider = { MODELS: models, OPENAI_API_KEY: upstream.key, OPENAI_BASE_URL: upstream.baseUrl };
    const leases = { TASK_LEASE_S: '5', TASK_HEARTBEAT_S: '1', PROVIDER_POLL_INTERVAL_MS: '20' };
    [service, browser] = await Promise.all([startOwnService({ ROLE: 'api', ...provider, ...leases }), launch()]);
    for (let nth = 0; nth < 2; nth++) {
      const port = String(await freePort());
      workers.push(await spawnService({ ...service.env, ROLE: 'worker', PORT: port, WORKER_CONCURRENCY: '4' }));
    }
    visitor = await Visitor.open(browser, service.baseUrl);
    await visitor.enter(service.api.key as string);
  });
  afterAll(async () => {
    const { problems } = visitor;
    await visitor.close();
    await browser.close();
    for (const worker of workers) await worker.kill('SIGKILL');
    await service.close();
    await upstream.stop();
    rmSync(models, { recursive: true });
    expect(problems).toEqual([]);
  });

  it('see who serves a model of the operator, without its address', async () => {
    await visitor.goto('/providers');
    const rows = visitor.page.getByRole('region', { name: 'Providers' }).getByRole('row');
    const cellsOf = (model: string) => rows.filter({ hasText: model }).getByRole('cell').allInnerTexts();
    await rows.filter({ hasText: 'ink' }).waitFor();
    expect((await cellsOf('ink')).slice(0, 4)).toEqual(['openai', 'ink ink-1', '–', '0']);
    expect((await cellsOf('gpt-image-2')).slice(0, 4)).toEqual([
      `openai\n${new URL(upstream.baseUrl).host}`,
      expect.stringContaining('gpt-image-2'),
      'OPENAI_API_KEY',
      '0',
    ]);
    expect((await cellsOf('sora-2'))[0]).toBe('sandbox\nrenders here, free');
  });

  it('see a circuit open when an upstream dies, and close when it is back', async () => {
    const { page } = visitor;
    await visitor.goto('/providers');
    const row = page.getByRole('region', { name: 'Providers' }).getByRole('row').filter({ hasText: 'gpt-image-2' });
    await row.getByText('closed').waitFor();
    await upstream.stop();
    const created = await Promise.all(
      Array.from({ length: CALLS }, () => service.api.create({ model: 'gpt-image-2', prompt: 'A lighthouse' })),
    );
    await row.getByText(/^open in/).waitFor();
    await upstream.start();
    for (const { body } of created) await service.api.untilFinal(body.task_id);
    const after = await service.api.create({ model: 'gpt-image-2', prompt: 'A lighthouse again' });
    await service.api.untilFinal(after.body.task_id);
    await row.getByText('closed').waitFor();
  });

  it('see a killed worker late, then lost, while its tasks move to the other one', async () => {
    const { page } = visitor;
    const slow = { model: 'nano-banana-2', prompt: 'A slow river #delay:20' };
    const created = await Promise.all(Array.from({ length: 4 }, () => service.api.create(slow)));
    await visitor.goto('/queue');
    const processes = page.getByRole('region', { name: 'Processes' }).getByRole('row');
    const busy = processes.filter({ hasText: 'worker' });
    await busy.nth(1).waitFor();
    await busy.getByText(/^[1-4] of 4$/).first().waitFor(); // prettier-ignore
    for (const { body } of created) await service.api.until(body.task_id, 'running');

    await workers[0]!.kill('SIGKILL');
    await processes.getByText('● late').waitFor({ timeout: LOST_MS });
    await processes.getByText('● lost').waitFor({ timeout: LOST_MS });
    expect(await processes.getByText('● live').count()).toBe(2); // the API and the other worker
    for (const { body } of created) {
      expect(await service.api.untilFinalWithin(body.task_id, ENDS_WITHIN_MS)).toMatchObject({ status: 'succeeded' });
    }
    await page.getByRole('region', { name: 'Processes' }).getByText('0 of 4').first().waitFor();
  });
});
