import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedOf } from '../../src/providers/families/seedance.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { startService } from '../../src/service.ts';
import { type TaskBody } from '../support/clients/api.ts';
import { startApp, type TestApp, testEnv } from '../support/app.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import { ReplicateStub } from '../support/stubs/replicate.stub.ts';
import { eventually } from '../support/wait.ts';

/** How far the dead worker got: the provider it called, and the job id it stored. */
interface DeadRun {
  provider: string;
  url: string;
  credential: string;
  model: string;
  upstreamId: string | null;
}

describe('a worker that takes a task over', () => {
  const ark = new ArkStub();
  const fal = new FalStub();
  const replicate = new ReplicateStub();
  const stubs = [ark, fal, replicate];
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-takeover-'));
  const running: { close(): Promise<unknown> }[] = [];
  beforeAll(async () => {
    await Promise.all(stubs.map((stub) => stub.start()));
    for (const stub of stubs) stub.real = true;
  });
  afterEach(async () => {
    for (const one of running.splice(0).toReversed()) await one.close();
  });
  afterAll(async () => {
    await Promise.all(stubs.map((stub) => stub.stop()));
    rmSync(folder, { recursive: true });
  });

  /** An API process without a worker, so that its tasks stay queued. */
  async function front(bindings: string): Promise<TestApp> {
    const file = join(folder, 'providers.yaml');
    writeFileSync(file, `models:\n${bindings}`);
    const service = await startApp({
      ROLE: 'api',
      PROVIDERS: file,
      PROVIDER_POLL_INTERVAL_MS: '20',
      ARK_API_KEY: ark.key,
      FAL_KEY: fal.key,
      REPLICATE_API_TOKEN: replicate.key,
    });
    running.push(service);
    return service;
  }

  async function created(service: TestApp, body: object): Promise<TaskBody> {
    const { status, body: task } = await service.api.create(body);
    expect(status).toBe(201);
    return task;
  }

  /** Writes the task as a dead worker leaves it, and runs another worker to its end. */
  async function takenOver(service: TestApp, { task_id: id }: TaskBody, deadRun: DeadRun): Promise<TaskBody> {
    const { provider, url, credential, model, upstreamId } = deadRun;
    await queryOnce(
      service.database.url,
      `with taken as (
         update tasks set status = 'running', attempt = 1, started_at = now(), lease_until = now() - interval '1 s',
           provider = $2, provider_url = $3, credential = $4, provider_model = $5, submitted_at = now(), upstream_id = $6
         where id = $1 returning api_key_id)
       update key_load l set queued = queued - 1, running = running + 1 from taken where l.api_key_id = taken.api_key_id`,
      [id, provider, url, credential, model, upstreamId],
    );
    const worker = await startWorker(service);
    running.push({ close: () => worker.stop() });
    return service.api.untilFinalWithin(id, 30_000);
  }

  async function startWorker({ database, env }: TestApp) {
    const own = await testEnv(database.url, { ...env, ROLE: 'worker', PORT: String(await freePort()) });
    return startService(loadConfig(own.env));
  }

  /** The paid call of the dead worker. */
  async function submit(url: string, authorization: string, body: object): Promise<Record<string, string>> {
    const headers = { authorization, 'content-type': 'application/json' };
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(reply.status).toBeLessThan(300);
    return (await reply.json()) as Record<string, string>;
  }

  const SEEDANCE = 'bytedance/seedance-2.0';
  const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };

  it('waits for the lease while the paid call of its predecessor is in flight, and starts at once otherwise', async () => {
    const bindings = `  seedance-2: [{ provider: ark, model: seedance, base_url: "${ark.baseUrl}" }]`;
    const service = await front(bindings);
    const left = async (pattern: RegExp) => {
      const worker = await startWorker(service);
      const asked = ark.count(pattern);
      ark.plan(pattern, 'hang');
      const { task_id: id } = await created(service, aFilm);
      await eventually('the request at the upstream', async () => ark.count(pattern) > asked);
      await worker.stop();
      const rows = `select status, losses, lease_until > now() as is_held from tasks where id = $1`;
      return (await queryOnce(service.database.url, rows, [id]))[0];
    };
    const row = { status: 'running', losses: -1 };
    expect(await left(/^POST .*tasks$/)).toEqual({ ...row, is_held: true });
    expect(await left(/^GET .*tasks\/cgt/)).toEqual({ ...row, is_held: false });
  }, 60_000);

  it('finishes a video although its first frame is no longer available', async () => {
    const service = await front(`  seedance-2: [{ provider: ark, model: seedance, base_url: "${ark.baseUrl}" }]`);
    const before = ark.submits;
    const gone = `http://127.0.0.1:${await freePort()}/first.png`;
    const task = await created(service, { ...aFilm, first_frame_image_url: gone });
    const { id } = await submit(`${ark.baseUrl}/contents/generations/tasks`, `Bearer ${ark.key}`, {
      model: 'seedance',
      content: [{ type: 'text', text: 'A slow river' }],
      resolution: '720p',
      ratio: '21:9',
      duration: 4,
      seed: seedOf(task.task_id),
    });
    const deadRun = {
      provider: 'ark',
      url: ark.baseUrl,
      credential: 'ARK_API_KEY',
      model: 'seedance',
      upstreamId: id!,
    };
    expect(await takenOver(service, task, deadRun)).toMatchObject({ status: 'succeeded' });
    expect(ark.submits).toBe(before + 1);
  }, 60_000);

  it('continues with the submitted model when one account serves several', async () => {
    const at = (model: string) => `{ provider: fal, model: ${model}, base_url: "${fal.origin}" }`;
    const service = await front(`  nano-banana-pro: [${at('fal-ai/nano-banana-2')}, ${at('fal-ai/nano-banana-pro')}]`);
    const task = await created(service, { model: 'nano-banana-pro', prompt: 'A heron' });
    const model = 'fal-ai/nano-banana-pro';
    const { request_id: id } = await submit(`${fal.origin}/${model}`, `Key ${fal.key}`, { prompt: 'A heron' });
    const deadRun = { provider: 'fal', url: fal.origin, credential: 'FAL_KEY', model, upstreamId: id! };
    expect(await takenOver(service, task, deadRun)).toMatchObject({ status: 'succeeded' });
    expect(fal.submits).toBe(1);
  }, 60_000);

  it('finds the job of the submitted model, and submits no second one', async () => {
    const at = (model: string) => `{ provider: replicate, model: ${model}, base_url: "${replicate.baseUrl}" }`;
    const service = await front(`  seedance-2: [${at(`${SEEDANCE}-fast`)}, ${at(SEEDANCE)}]`);
    const task = await created(service, aFilm);
    const before = replicate.submits;
    await submit(`${replicate.baseUrl}/models/${SEEDANCE}/predictions`, `Bearer ${replicate.key}`, {
      input: { prompt: 'A slow river', duration: 4, resolution: '720p', seed: seedOf(task.task_id) },
    });
    expect(await takenOver(service, task, atReplicate(SEEDANCE))).toMatchObject({ status: 'succeeded' });
    expect(replicate.submits).toBe(before + 1);
  }, 60_000);

  it.each([
    ['fails the task when the outcome is unknown, and sends nothing', '', 'failed', 0],
    ['submits again if the operator allows it', ', on_unknown_outcome: resubmit', 'succeeded', 1],
  ])(
    '%s',
    async (_, more, status, submits) => {
      const model = 'openai/gpt-image-2';
      const service = await front(
        `  gpt-image-2: [{ provider: replicate, model: ${model}, base_url: "${replicate.baseUrl}"${more} }]`,
      );
      const task = await created(service, { model: 'gpt-image-2', prompt: 'A heron' });
      const before = replicate.submits;
      const ended = await takenOver(service, task, atReplicate(model));
      expect([ended.status, replicate.submits - before]).toEqual([status, submits]);
      if (status === 'failed') expect(ended.error?.code).toBe('provider_outcome_unknown');
    },
    60_000,
  );

  const atReplicate = (model: string): DeadRun => ({
    provider: 'replicate',
    url: replicate.baseUrl,
    credential: 'REPLICATE_API_TOKEN',
    model,
    upstreamId: null,
  });
});
