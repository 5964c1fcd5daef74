import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/platform/config.ts';
import { startService } from '../../src/service.ts';
import { EndTasks } from '../../src/tasks/sql/end-tasks.ts';
import { taskError } from '../../src/tasks/task-error.ts';
import { aCat } from '../support/clients/api.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { testEnv } from '../support/test-env.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { OPENAI_FAULTS } from '../support/stubs/openai-faults.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

const BUSY = { reply: { status: 429, body: { error: { message: 'busy', type: 'requests' } } } };
const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };

describe('models behind real providers', () => {
  const openai = new OpenaiStub();
  const ark = new ArkStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-providers-'));
  const running: InProcess[] = [];
  beforeAll(async () => {
    await openai.start();
    await ark.start();
  });
  afterEach(async () => {
    for (const service of running.splice(0)) await service.close();
  });
  afterAll(async () => {
    await openai.stop();
    await ark.stop();
    rmSync(folder, { recursive: true });
  });

  async function start(settings: Record<string, string>, providers?: string): Promise<InProcess> {
    const file = join(folder, 'providers.yaml');
    if (providers) writeFileSync(file, providers);
    const service = await startInProcess({
      PROVIDER_POLL_INTERVAL_MS: '20',
      ...(providers ? { PROVIDERS: file } : {}),
      ...settings,
    });
    running.push(service);
    return service;
  }
  const withOpenai = { OPENAI_API_KEY: openai.key, get OPENAI_BASE_URL() { return openai.baseUrl; } }; // prettier-ignore
  const withArk = { ARK_API_KEY: ark.key, get ARK_BASE_URL() { return ark.baseUrl; } }; // prettier-ignore
  const made = async (service: InProcess, body: object) => (await service.api.create(body, { prefer: 'wait=60' })).body;

  it('uses the provider of a model if its key is set, and the sandbox otherwise', async () => {
    const service = await start({ ...withOpenai });
    const before = openai.submits;
    expect(await made(service, { ...aCat, n: 2 })).toMatchObject({ status: 'succeeded' });
    expect(openai.submits).toBe(before + 1);
    expect(await made(service, { model: 'nano-banana-2', prompt: 'x' })).toMatchObject({ status: 'succeeded' });
    expect(openai.submits).toBe(before + 1);
  });

  it('fails with provider_rejected for a wrong key, without naming the upstream', async () => {
    const service = await start({ OPENAI_API_KEY: 'sk-wrong', OPENAI_BASE_URL: openai.baseUrl });
    const task = await made(service, aCat);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'provider_rejected', retryable: false } });
    expect(JSON.stringify(task)).not.toMatch(/openai|127\.0\.0\.1|sk-wrong|\b401\b/i);
  });

  it('tries the next binding if the first certainly accepted nothing', async () => {
    const service = await start(
      { WRONG: 'sk-wrong', ...withOpenai },
      `models:
  gpt-image-2:
    - { provider: openai, model: gpt-image-2, base_url: ${openai.baseUrl}, credential: WRONG }
    - { provider: openai, model: gpt-image-2 }`,
    );
    const before = openai.submits;
    expect(await made(service, aCat)).toMatchObject({ status: 'succeeded' });
    expect(openai.submits).toBe(before + 1);
  });

  it('tries no other binding once a call may have been accepted', async () => {
    const service = await start(
      { SECOND: openai.key, ...withOpenai },
      `models:
  gpt-image-2:
    - { provider: openai, model: gpt-image-2 }
    - { provider: openai, model: gpt-image-2, credential: SECOND }`,
    );
    openai.plan(/images\/generations/, { cut: 'after' });
    const before = openai.submits;
    const task = await made(service, aCat);
    expect(task.status).toBe('failed');
    expect(openai.submits).toBe(before + 1);
  });

  it('waits for Retry-After and retries', async () => {
    const service = await start({ ...withOpenai });
    openai.plan(/images\/generations/, OPENAI_FAULTS.rateLimitedMs);
    const startedAt = Date.now();
    expect(await made(service, aCat)).toMatchObject({ status: 'succeeded' });
    expect(Date.now() - startedAt).toBeGreaterThan(1_400);
  });

  it('waits for a provider that is away, longer than five rounds of retries took', async () => {
    const service = await start(withOpenai);
    openai.plan(/images\/generations/, ...Array.from({ length: 5 }, () => BUSY));
    expect(await made(service, aCat)).toMatchObject({ status: 'succeeded' });
  });

  it('does not send refused content to the next provider', async () => {
    const service = await start(
      { SECOND: openai.key, ...withOpenai },
      `models:
  gpt-image-2:
    - { provider: openai, model: gpt-image-2 }
    - { provider: openai, model: gpt-image-2, credential: SECOND }`,
    );
    openai.plan(/images\/generations/, OPENAI_FAULTS.moderated);
    const before = openai.count(/images\/generations/);
    expect((await made(service, aCat)).error?.code).toBe('content_policy_violation');
    expect(openai.count(/images\/generations/)).toBe(before + 1);
  });

  it('polls a job to its end and stores provider, credential and job id for the operator', async () => {
    const service = await start({ ...withArk });
    ark.real = true;
    const { body } = await service.api.create(aFilm);
    expect(await service.api.untilFinal(body.task_id)).toMatchObject({ status: 'succeeded' });
    const { DataSource } = await import('typeorm');
    const [row] = await service.app
      .get(DataSource)
      .query('select provider, credential, upstream_id from tasks where id = $1', [body.task_id]);
    expect(row).toMatchObject({
      provider: 'ark',
      credential: 'ARK_API_KEY',
      upstream_id: expect.stringMatching(/^cgt-/),
    });
  });

  it('records approximated parameters', async () => {
    const service = await start(
      { ...withArk },
      `models:
  sora-2: [{ provider: ark, model: doubao-seedance-2-0-260128, duration_policy: nearest }]`,
    );
    ark.real = true;
    const { body } = await service.api.create({ model: 'sora-2', prompt: 'x', duration: 2 });
    const task = await service.api.untilFinal(body.task_id);
    expect(task.approximations).toEqual([{ param: 'duration', requested: '2', used: '4' }]);
  });

  it('refuses a request that no binding can express before it sends anything', async () => {
    const service = await start({ ...withArk });
    const before = ark.submits;
    const { body } = await service.api.create({ model: 'sora-2', prompt: 'x', duration: 2 });
    const task = await service.api.untilFinal(body.task_id);
    expect(task.error).toEqual({
      code: 'provider_rejected',
      message: 'No provider of this model can do what duration asks for.',
      param: 'duration',
      retryable: false,
    });
    expect(ark.submits).toBe(before);
  });

  it('cancels the job at the upstream', async () => {
    const service = await start({ ...withArk });
    ark.steps = { queued: 1_000_000, running: 1 };
    try {
      const [tasks, before] = [ark.tasks.size, ark.count(/^DELETE/)];
      const { body } = await service.api.create(aFilm);
      await eventually('the first polls', async () => ark.tasks.size > tasks && [...ark.tasks.values()].at(-1)?.polls);
      await service.api.cancel(body.task_id);
      await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
    } finally {
      ark.steps = { queued: 1, running: 1 };
    }
  });

  describe('cancels the job at the upstream although the cancellation was never published', () => {
    /** As if the process that accepted the cancellation died before it could publish it. */
    const cancelUnpublished = (service: InProcess, id: string) => {
      const outcome = { status: 'failed', error: taskError('task_cancelled') } as const;
      return service.app.get(EndTasks).end({ id, api_key_id: 'any', attempt: null, outcome });
    };
    afterEach(() => {
      ark.steps = { queued: 1, running: 1 };
    });

    it('between the answer to the paid call and its commit', async () => {
      const service = await start({ ...withArk });
      const [before, rest] = [ark.count(/^DELETE/), Promise.withResolvers<void>()];
      const halves = ark.halves;
      ark.plan(/^POST .*tasks$/, { restAfter: rest.promise });
      const { body } = await service.api.create(aFilm);
      await eventually('half of the answer', async () => ark.halves > halves);
      await cancelUnpublished(service, body.task_id);
      rest.resolve();
      await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
    });

    it('during polling, at the next heartbeat', async () => {
      const service = await start({ ...withArk, TASK_HEARTBEAT_S: '0.2' });
      ark.steps = { queued: 1_000_000, running: 1 };
      const [tasks, before] = [ark.tasks.size, ark.count(/^DELETE/)];
      const { body } = await service.api.create(aFilm);
      await eventually('the first polls', async () => ark.tasks.size > tasks && [...ark.tasks.values()].at(-1)?.polls);
      await cancelUnpublished(service, body.task_id);
      await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
    });

    it('and the task was deleted after it', async () => {
      const service = await start({ ...withArk, TASK_HEARTBEAT_S: '0.2' });
      ark.steps = { queued: 1_000_000, running: 1 };
      const [tasks, before] = [ark.tasks.size, ark.count(/^DELETE/)];
      const { body } = await service.api.create(aFilm);
      await eventually('the first polls', async () => ark.tasks.size > tasks && [...ark.tasks.values()].at(-1)?.polls);
      await cancelUnpublished(service, body.task_id);
      await service.api.call('DELETE', `/v1/tasks/${body.task_id}`);
      await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
    });
  });

  it('limits concurrent calls over all processes', async () => {
    const providers = `models:
  gpt-image-2: [{ provider: openai, model: gpt-image-2, concurrency: 2 }]`;
    const service = await start({ ...withOpenai }, providers);
    const { env } = await testEnv(service.database.url, {
      ...withOpenai,
      PROVIDERS: join(folder, 'providers.yaml'),
      BOOTSTRAP_API_KEY: service.api.key as string,
    });
    const other = await startService(loadConfig(env));
    try {
      openai.plan(/images\/generations/, ...Array.from({ length: 8 }, () => ({ delayMs: 150 })));
      const first = openai.requests.length;
      const startedAt = performance.now();
      const tasks = await Promise.all(Array.from({ length: 8 }, () => made(service, aCat)));
      expect(tasks.map(({ status }) => status)).toEqual(Array(8).fill('succeeded'));
      expect(performance.now() - startedAt).toBeGreaterThan(4 * 150);
      const starts = openai.requests.slice(first).map(({ at }) => at).toSorted((a, b) => a - b); // prettier-ignore
      for (const [at, start] of starts.entries()) {
        expect(starts.slice(at + 1).filter((later) => later < start + 145).length).toBeLessThan(2);
      }
    } finally {
      await other.stop();
    }
  });

  it.each([
    [
      'an unknown provider',
      'models:\n  gpt-image-2:\n    - { provider: midjourney, model: x }',
      /line 3: unknown provider "midjourney"/,
    ],
    [
      'an unknown model',
      'models:\n  dall-e-2:\n    - { provider: openai, model: x }',
      /line 2: unknown model "dall-e-2"/,
    ],
    [
      'an unknown field',
      'models:\n  gpt-image-2:\n    - provider: openai\n      model: x\n      speed: 2',
      /line 5: unknown field "speed"/,
    ],
    ['broken YAML', 'models: [', /line 1/],
  ])('does not start with %s in the PROVIDERS file, and names the line', async (_, providers, message) => {
    await expect(start({}, providers)).rejects.toThrow(message);
  });
});
