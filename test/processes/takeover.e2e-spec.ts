import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promptId } from '../../src/providers/comfyui/prompt-id.ts';
import { seedOf } from '../../src/providers/contract/seed.ts';
import type { Api, TaskBody } from '../support/clients/api.ts';
import { pauseModel } from '../support/clients/pauses.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { Scrape } from '../support/metrics.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { PictureServer } from '../support/servers/picture-server.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { ComfyuiStub } from '../support/stubs/comfyui.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import { film } from '../support/stubs/media.ts';
import { ReplicateStub } from '../support/stubs/replicate.stub.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

/** How far the dead worker got: the provider it called, and the job id it stored. */
interface DeadRun {
  provider: string;
  url: string;
  credential: string | null;
  model: string;
  upstreamId: string | null;
}

const SEEDANCE = 'bytedance/seedance-2.0';
const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };

describe('a worker that takes a task over', () => {
  const ark = new ArkStub();
  const fal = new FalStub();
  const replicate = new ReplicateStub();
  const comfy = new ComfyuiStub();
  const pictures = new PictureServer();
  const servers = [ark, fal, replicate, comfy, pictures];
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-takeover-'));
  const template = join(folder, 'film.json');
  beforeAll(async () => {
    await Promise.all(servers.map((server) => server.start()));
    for (const stub of [ark, fal, replicate]) stub.real = true;
    comfy.engine.film = await film(1280, 720, 4);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true });
  });

  let database: TestDatabase;
  let service: ServiceProcess;
  let api: Api;
  /** Ends the pause of films. */
  let releaseFilms: () => Promise<void>;

  /** Starts a service that claims no waiting task: all models are paused, which keeps no worker from a takeover. */
  async function start(bindings: Record<string, object[]>): Promise<void> {
    database = await cloneDatabase();
    const file = join(folder, 'providers.json');
    writeFileSync(file, JSON.stringify({ models: bindings }));
    const { env } = await testEnv(database.url, {
      PROVIDERS: file,
      PROVIDER_POLL_INTERVAL_MS: '20',
      TASK_SWEEP_S: '0.3',
      TASK_HEARTBEAT_S: '0.5', // how long a worker that has started takes nothing over
      ARK_API_KEY: ark.key,
      FAL_KEY: fal.key,
      REPLICATE_API_TOKEN: replicate.key,
    });
    service = await spawnService(env);
    api = service.api;
    const pauses = await Promise.all(Object.keys(bindings).map((model) => pauseModel(api, model)));
    releaseFilms = pauses[Object.keys(bindings).indexOf(aFilm.model)]!.end;
  }
  async function end(): Promise<void> {
    await service?.kill('SIGKILL');
    await database?.drop();
  }

  async function created(body: object): Promise<TaskBody> {
    const { status, body: task } = await api.create(body);
    expect(status).toBe(201);
    return task;
  }

  /** Writes the task as a dead worker leaves it, and waits for its end. */
  async function takenOver(task: TaskBody, deadRun: DeadRun): Promise<TaskBody> {
    await leftBehind(task, deadRun);
    return api.untilFinal(task.task_id);
  }

  async function leftBehind(
    { task_id: id }: TaskBody,
    { provider, url, credential, model, upstreamId }: DeadRun,
    { losses = 0, lease = `now() - interval '1 s'` } = {},
  ): Promise<void> {
    await queryOnce(
      database.url,
      `with taken as (
         update tasks_live set status = 'running', attempt = 1, started_at = now(), lease_until = ${lease}, losses = $7,
           provider = $2, provider_url = $3, credential = $4, provider_model = $5, submitted_at = now(), upstream_id = $6,
           parked = false, waits = false, paused_by = null
         where id = $1 returning api_key_id)
       update key_load l set queued = queued - 1, running = running + 1 from taken where l.api_key_id = taken.api_key_id`,
      [id, provider, url, credential, model, upstreamId, losses],
    );
  }

  /** The paid call of the dead worker. */
  async function submit(url: string, authorization: string, body: object): Promise<Record<string, string>> {
    const headers = { authorization, 'content-type': 'application/json' };
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(reply.status).toBeLessThan(300);
    return (await reply.json()) as Record<string, string>;
  }

  const atReplicate = (model: string, more = {}) => ({
    provider: 'replicate',
    model,
    base_url: replicate.baseUrl,
    ...more,
  });
  const leftAtReplicate = (model: string): DeadRun => ({
    provider: 'replicate',
    url: replicate.baseUrl,
    credential: 'REPLICATE_API_TOKEN',
    model,
    upstreamId: null,
  });

  describe('of Ark or fal', () => {
    beforeAll(async () => {
      const atFal = (model: string) => ({ provider: 'fal', model, base_url: fal.origin });
      await start({
        'seedance-2': [{ provider: 'ark', model: 'seedance', base_url: ark.baseUrl }],
        'nano-banana-pro': [atFal('fal-ai/nano-banana-2'), atFal('fal-ai/nano-banana-pro')],
      });
    });
    afterAll(end);

    async function leftAtArk({ task_id }: TaskBody, ratio: string): Promise<DeadRun> {
      const { id } = await submit(`${ark.baseUrl}/contents/generations/tasks`, `Bearer ${ark.key}`, {
        model: 'seedance',
        content: [{ type: 'text', text: 'A slow river' }],
        resolution: '720p',
        ratio,
        duration: 4,
        seed: seedOf(task_id),
      });
      return { provider: 'ark', url: ark.baseUrl, credential: 'ARK_API_KEY', model: 'seedance', upstreamId: id! };
    }

    it('finishes a video although its first frame is no longer available', async () => {
      const before = ark.submits;
      const gone = `http://127.0.0.1:${await freePort()}/first.png`;
      const task = await created({ ...aFilm, first_frame_image_url: gone });
      expect(await takenOver(task, await leftAtArk(task, '21:9'))).toMatchObject({ status: 'succeeded' });
      expect(ark.submits).toBe(before + 1);
    });

    it('continues with the submitted model when one account serves several', async () => {
      const task = await created({ model: 'nano-banana-pro', prompt: 'A heron' });
      const model = 'fal-ai/nano-banana-pro';
      const { request_id: id } = await submit(`${fal.origin}/${model}`, `Key ${fal.key}`, { prompt: 'A heron' });
      const deadRun = { provider: 'fal', url: fal.origin, credential: 'FAL_KEY', model, upstreamId: id! };
      expect(await takenOver(task, deadRun)).toMatchObject({ status: 'succeeded' });
      expect(fal.submits).toBe(1);
    });

    it('polls an accepted job while its provider is away, however often other calls to it fail', async () => {
      const before = ark.submits;
      const task = await created(aFilm);
      await leftBehind(task, await leftAtArk(task, '16:9'), { lease: `now() + interval '1 hour'` });
      const others = await Promise.all(Array.from({ length: 8 }, () => created(aFilm)));
      await ark.stop();
      try {
        await releaseFilms();
        const isOpen = async () => (await Scrape.of(api.baseUrl)).value('darkroom_provider_circuit_open') === 1;
        await eventually('the circuit of the provider to open', isOpen);
        await queryOnce(database.url, 'update tasks_live set lease_until = now() where id = $1', [task.task_id]);
        await eventually('the takeover', async () => (await attemptOf(task)) === 2);
        await sleep(2_000);
      } finally {
        await ark.start();
      }
      for (const { task_id: id } of [task, ...others])
        expect(await api.untilFinal(id)).toMatchObject({ status: 'succeeded' });
      expect(ark.submits).toBe(before + 9);
    });

    const attemptOf = async ({ task_id: id }: TaskBody) =>
      (await queryOnce<{ attempt: number }>(database.url, 'select attempt from tasks where id = $1', [id]))[0]?.attempt;

    /** The last test: it stops the service. */
    it('waits for the lease while the paid call of its predecessor is in flight, and starts at once otherwise', async () => {
      const halted = async (pattern: RegExp) => {
        const asked = ark.count(pattern);
        ark.plan(pattern, 'hang');
        const { task_id: id } = await created(aFilm);
        await eventually('the request at the upstream', async () => ark.count(pattern) > asked);
        return id;
      };
      const polled = await halted(/^GET .*tasks\/cgt/);
      const paid = await halted(/^POST .*tasks$/);
      await service.kill('SIGTERM');
      const rows = await queryOnce(
        database.url,
        `select id, status, losses, lease_until > now() as is_held from tasks where id = any($1) order by id`,
        [[polled, paid]],
      );
      const row = { status: 'running', losses: -1 };
      expect(rows).toEqual([
        { id: polled, ...row, is_held: false },
        { id: paid, ...row, is_held: true },
      ]);
    });
  });

  describe('of Replicate, or of a ComfyUI that has lost its runs', () => {
    const atComfy = (model: string) => ({ provider: 'comfyui', model, base_url: comfy.url });
    const leftAtComfy = (model: string, { task_id }: TaskBody): DeadRun => ({
      provider: 'comfyui',
      url: comfy.url,
      credential: null,
      model,
      upstreamId: promptId(task_id, 0),
    });
    beforeAll(async () => {
      const inputs = { text: '{{prompt}}', width: '{{width}}', height: '{{height}}', image: '{{first_frame}}' };
      const workflow = {
        sample: { class_type: 'KSampler', inputs: { ...inputs, duration: '{{duration}}' } },
        save: { class_type: 'SaveVideo', inputs: { images: ['sample', 0] } },
      };
      writeFileSync(template, JSON.stringify({ workflows: [workflow], size_step: 2 }));
      await start({
        'seedance-2': [atComfy(template), atReplicate(`${SEEDANCE}-fast`), atReplicate(SEEDANCE)],
        'gpt-image-2': [atReplicate('openai/gpt-image-2')],
        'nano-banana-pro': [atReplicate('google/nano-banana-pro', { on_unknown_outcome: 'resubmit' })],
        'nano-banana-2': [atComfy('default')],
      });
    });
    afterAll(end);

    it('finds the job of the submitted model, and submits no second one', async () => {
      const task = await created(aFilm);
      const before = replicate.submits;
      await submit(`${replicate.baseUrl}/models/${SEEDANCE}/predictions`, `Bearer ${replicate.key}`, {
        input: { prompt: 'A slow river', duration: 4, resolution: '720p', seed: seedOf(task.task_id) },
      });
      expect(await takenOver(task, leftAtReplicate(SEEDANCE))).toMatchObject({ status: 'succeeded' });
      expect(replicate.submits).toBe(before + 1);
    });

    it.each([
      ['fails the task when the outcome is unknown, and sends nothing', 'gpt-image-2', 'openai', 'failed', 0],
      ['submits again if the operator allows it', 'nano-banana-pro', 'google', 'succeeded', 1],
    ])('%s', async (_, model, vendor, status, submits) => {
      const task = await created({ model, prompt: 'A heron' });
      const before = replicate.submits;
      const ended = await takenOver(task, leftAtReplicate(`${vendor}/${model}`));
      expect([ended.status, replicate.submits - before]).toEqual([status, submits]);
      if (status === 'failed') expect(ended.error?.code).toBe('provider_outcome_unknown');
    });

    it('submits the film again with its first frame', async () => {
      const first = { reference_mode: 'first_frame', first_frame_image_url: pictures.url };
      const task = await created({ ...aFilm, ...first });
      expect(await takenOver(task, leftAtComfy(template, task))).toMatchObject({ status: 'succeeded' });
      expect(comfy.submits).toEqual([promptId(task.task_id, 0)]);
      expect(comfy.uploads.size).toBe(1);
    });

    it('fails the task with provider_unavailable at its last attempt', async () => {
      const task = await created({ model: 'nano-banana-2', prompt: 'A heron' });
      await leftBehind(task, leftAtComfy('default', task), { losses: 1 });
      const ended = await api.untilFinal(task.task_id);
      expect(ended.error).toMatchObject({ code: 'provider_unavailable', retryable: true });
      expect(comfy.submits).not.toContain(promptId(task.task_id, 0));
    });
  });
});
