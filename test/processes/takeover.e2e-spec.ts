// Workers of each test in this process: a test stops them at a point of its own, and each has other bindings.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promptId } from '../../src/providers/comfyui/prompt-id.ts';
import { seedOf } from '../../src/providers/families/seedance.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { type Service, startService } from '../../src/service.ts';
import { type TaskBody } from '../support/clients/api.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { Scrape } from '../support/metrics.ts';
import { freePort } from '../support/free-port.ts';
import { PictureServer } from '../support/servers/picture-server.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { ComfyuiStub } from '../support/stubs/comfyui.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import { film } from '../support/stubs/media.ts';
import { ReplicateStub } from '../support/stubs/replicate.stub.ts';
import { eventually } from '../support/wait.ts';

/** How far the dead worker got: the provider it called, and the job id it stored. */
interface DeadRun {
  provider: string;
  url: string;
  credential: string | null;
  model: string;
  upstreamId: string | null;
}

describe('a worker that takes a task over', () => {
  const ark = new ArkStub();
  const fal = new FalStub();
  const replicate = new ReplicateStub();
  const stubs = [ark, fal, replicate];
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-takeover-'));
  /** An API process without a worker, so that its tasks stay queued. */
  let service: OwnService;
  const workers: Service[] = [];
  beforeAll(async () => {
    await Promise.all(stubs.map((stub) => stub.start()));
    for (const stub of stubs) stub.real = true;
    service = await startOwnService({
      ROLE: 'api',
      PROVIDER_POLL_INTERVAL_MS: '20',
      ARK_API_KEY: ark.key,
      FAL_KEY: fal.key,
      REPLICATE_API_TOKEN: replicate.key,
    });
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await queryOnce(service.database.url, 'truncate tasks, key_load'); // the next worker takes over nothing of this test
  });
  afterAll(async () => {
    await service?.close();
    await Promise.all(stubs.map((stub) => stub.stop()));
    rmSync(folder, { recursive: true });
  });

  async function created(body: object): Promise<TaskBody> {
    const { status, body: task } = await service.api.create(body);
    expect(status).toBe(201);
    return task;
  }

  /** Writes the task as a dead worker leaves it, and runs another worker to its end. */
  async function takenOver(bindings: string, task: TaskBody, deadRun: DeadRun): Promise<TaskBody> {
    await leftBehind(task, deadRun);
    await startWorker(bindings);
    return service.api.untilFinal(task.task_id);
  }

  async function leftBehind({ task_id: id }: TaskBody, deadRun: DeadRun): Promise<void> {
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
  }

  async function startWorker(bindings: string): Promise<Service> {
    const file = join(folder, 'providers.yaml');
    writeFileSync(file, `models:\n${bindings}`);
    const { env } = service;
    const worker = await startService(
      loadConfig({ ...env, ROLE: 'worker', PROVIDERS: file, PORT: String(await freePort()) }),
    );
    workers.push(worker);
    return worker;
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
    const left = async (pattern: RegExp) => {
      const worker = await startWorker(atArk());
      const asked = ark.count(pattern);
      ark.plan(pattern, 'hang');
      const { task_id: id } = await created(aFilm);
      await eventually('the request at the upstream', async () => ark.count(pattern) > asked);
      await worker.stop();
      const rows = `select status, losses, lease_until > now() as is_held from tasks where id = $1`;
      return (await queryOnce(service.database.url, rows, [id]))[0];
    };
    const row = { status: 'running', losses: -1 };
    expect(await left(/^POST .*tasks$/)).toEqual({ ...row, is_held: true });
    expect(await left(/^GET .*tasks\/cgt/)).toEqual({ ...row, is_held: false });
  });

  it('finishes a video although its first frame is no longer available', async () => {
    const before = ark.submits;
    const gone = `http://127.0.0.1:${await freePort()}/first.png`;
    const task = await created({ ...aFilm, first_frame_image_url: gone });
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
    expect(await takenOver(atArk(), task, deadRun)).toMatchObject({ status: 'succeeded' });
    expect(ark.submits).toBe(before + 1);
  });

  it('continues with the submitted model when one account serves several', async () => {
    const at = (model: string) => `{ provider: fal, model: ${model}, base_url: "${fal.origin}" }`;
    const bindings = `  nano-banana-pro: [${at('fal-ai/nano-banana-2')}, ${at('fal-ai/nano-banana-pro')}]`;
    const task = await created({ model: 'nano-banana-pro', prompt: 'A heron' });
    const model = 'fal-ai/nano-banana-pro';
    const { request_id: id } = await submit(`${fal.origin}/${model}`, `Key ${fal.key}`, { prompt: 'A heron' });
    const deadRun = { provider: 'fal', url: fal.origin, credential: 'FAL_KEY', model, upstreamId: id! };
    expect(await takenOver(bindings, task, deadRun)).toMatchObject({ status: 'succeeded' });
    expect(fal.submits).toBe(1);
  });

  it('finds the job of the submitted model, and submits no second one', async () => {
    const at = (model: string) => `{ provider: replicate, model: ${model}, base_url: "${replicate.baseUrl}" }`;
    const bindings = `  seedance-2: [${at(`${SEEDANCE}-fast`)}, ${at(SEEDANCE)}]`;
    const task = await created(aFilm);
    const before = replicate.submits;
    await submit(`${replicate.baseUrl}/models/${SEEDANCE}/predictions`, `Bearer ${replicate.key}`, {
      input: { prompt: 'A slow river', duration: 4, resolution: '720p', seed: seedOf(task.task_id) },
    });
    expect(await takenOver(bindings, task, atReplicate(SEEDANCE))).toMatchObject({ status: 'succeeded' });
    expect(replicate.submits).toBe(before + 1);
  });

  it.each([
    ['fails the task when the outcome is unknown, and sends nothing', '', 'failed', 0],
    ['submits again if the operator allows it', ', on_unknown_outcome: resubmit', 'succeeded', 1],
  ])('%s', async (_, more, status, submits) => {
    const model = 'openai/gpt-image-2';
    const bindings = `  gpt-image-2: [{ provider: replicate, model: ${model}, base_url: "${replicate.baseUrl}"${more} }]`;
    const task = await created({ model: 'gpt-image-2', prompt: 'A heron' });
    const before = replicate.submits;
    const ended = await takenOver(bindings, task, atReplicate(model));
    expect([ended.status, replicate.submits - before]).toEqual([status, submits]);
    if (status === 'failed') expect(ended.error?.code).toBe('provider_outcome_unknown');
  });

  it('polls an accepted job while its provider is away, however often other calls to it fail', async () => {
    const before = ark.submits;
    const task = await created(aFilm);
    const { id } = await submit(`${ark.baseUrl}/contents/generations/tasks`, `Bearer ${ark.key}`, {
      model: 'seedance',
      content: [{ type: 'text', text: 'A slow river' }],
      resolution: '720p',
      ratio: '16:9',
      duration: 4,
      seed: seedOf(task.task_id),
    });
    const deadRun = { provider: 'ark', url: ark.baseUrl, credential: 'ARK_API_KEY', model: 'seedance' };
    await leftBehind(task, { ...deadRun, upstreamId: id! });
    const leaseEnds = (at: string) =>
      queryOnce(service.database.url, `update tasks set lease_until = ${at} where id = $1`, [task.task_id]);
    await leaseEnds(`now() + interval '1 hour'`);
    const others = await Promise.all(Array.from({ length: 8 }, () => created(aFilm)));
    await ark.stop();
    try {
      const { app } = await startWorker(atArk());
      const metrics = await app.getUrl();
      const isOpen = async () => (await Scrape.of(metrics)).value('darkroom_provider_circuit_open') === 1;
      await eventually('the circuit of the provider to open', isOpen);
      await leaseEnds('now()');
      await eventually('the takeover', async () => (await attemptOf(task)) === 2);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    } finally {
      await ark.start();
    }
    for (const { task_id: id } of [task, ...others])
      expect(await service.api.untilFinal(id)).toMatchObject({ status: 'succeeded' });
    expect(ark.submits).toBe(before + 9);
  });

  const attemptOf = async ({ task_id: id }: TaskBody) =>
    (await queryOnce<{ attempt: number }>(service.database.url, 'select attempt from tasks where id = $1', [id]))[0]
      ?.attempt;

  describe('of a ComfyUI that has lost its runs', () => {
    const comfy = new ComfyuiStub();
    const pictures = new PictureServer();
    beforeAll(async () => {
      await Promise.all([comfy.start(), pictures.start()]);
      comfy.engine.film = await film(1280, 720, 4);
    });
    afterAll(() => Promise.all([comfy.stop(), pictures.stop()]));

    const template = join(folder, 'film.json');
    const inputs = { text: '{{prompt}}', width: '{{width}}', height: '{{height}}', image: '{{first_frame}}' };
    const workflow = {
      sample: { class_type: 'KSampler', inputs: { ...inputs, duration: '{{duration}}' } },
      save: { class_type: 'SaveVideo', inputs: { images: ['sample', 0] } },
    };

    it('submits the film again with its first frame', async () => {
      writeFileSync(template, JSON.stringify({ workflows: [workflow], size_step: 2 }));
      const bindings = `  seedance-2: [{ provider: comfyui, model: ${template}, base_url: "${comfy.url}" }]`;
      const task = await created({
        ...aFilm,
        reference_mode: 'first_frame',
        first_frame_image_url: pictures.url,
      });
      const id = promptId(task.task_id, 0);
      const deadRun = { provider: 'comfyui', url: comfy.url, credential: null, model: template, upstreamId: id };
      expect(await takenOver(bindings, task, deadRun)).toMatchObject({ status: 'succeeded' });
      expect(comfy.submits).toEqual([id]);
      expect(comfy.uploads.size).toBe(1);
    });

    it('fails the task with provider_unavailable at its last attempt', async () => {
      const bindings = `  nano-banana-2: [{ provider: comfyui, model: default, base_url: "${comfy.url}" }]`;
      const task = await created({ model: 'nano-banana-2', prompt: 'A heron' });
      const id = promptId(task.task_id, 0);
      const deadRun = { provider: 'comfyui', url: comfy.url, credential: null, model: 'default', upstreamId: id };
      await leftBehind(task, deadRun);
      await queryOnce(service.database.url, 'update tasks set losses = 1 where id = $1', [task.task_id]);
      await startWorker(bindings);
      const ended = await service.api.untilFinal(task.task_id);
      expect(ended.error).toMatchObject({ code: 'provider_unavailable', retryable: true });
      expect(comfy.submits).not.toContain(id);
    });
  });

  const atArk = () => `  seedance-2: [{ provider: ark, model: seedance, base_url: "${ark.baseUrl}" }]`;
  const atReplicate = (model: string): DeadRun => ({
    provider: 'replicate',
    url: replicate.baseUrl,
    credential: 'REPLICATE_API_TOKEN',
    model,
    upstreamId: null,
  });
});
