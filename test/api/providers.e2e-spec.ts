// Own settings: providers on loopback, two bindings of one model, a limit of calls, few places, a short sweep.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { END_TASK } from '../support/moved-task.ts';
import { aCat, type TaskBody } from '../support/clients/api.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { OPENAI_FAULTS } from '../support/stubs/openai-faults.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

const AN_IMAGE = /images\/generations/;
const BUSY = { reply: { status: 429, body: { error: { message: 'busy', type: 'requests' } } } };
const aFilm = { model: 'sora-2', prompt: 'A slow river', duration: 4 };
const limited = { model: 'nano-banana-pro', prompt: 'x' };
const PROVIDERS = `models:
  gpt-image-2:
    - { provider: openai, model: gpt-image-2 }
    - { provider: openai, model: gpt-image-2, credential: SECOND }
  nano-banana-pro: [{ provider: openai, model: gpt-image-2, concurrency: 2 }]
  seedance-2: [{ provider: openai, model: sora-2, duration_policy: nearest }]`;

describe('models behind real providers', () => {
  const openai = new OpenaiStub();
  const ark = new ArkStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-providers-'));
  let service: OwnService;
  beforeAll(async () => {
    await openai.start();
    await ark.start();
    ark.real = true;
    const file = join(folder, 'providers.yaml');
    writeFileSync(file, PROVIDERS);
    service = await startOwnService({
      PROVIDERS: file,
      PROVIDER_POLL_INTERVAL_MS: '20',
      TASK_HEARTBEAT_S: '4',
      TASK_SWEEP_S: '0.3',
      WORKER_CONCURRENCY: '3',
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      SECOND: openai.key,
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
    });
  });
  afterAll(async () => {
    await service?.close();
    await openai.stop();
    await ark.stop();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => {
    ark.steps = { queued: 1, running: 1 };
  });

  const query = <Row>(statement: string, ...values: unknown[]) =>
    queryOnce<Row>(service.database.url, statement, values);
  const begin = async (body: object): Promise<string> => (await service.api.create(body)).body.task_id;
  const made = async (body: object): Promise<TaskBody> => service.api.untilFinal(await begin(body));
  /** As if the time were over for which the task waits for its provider. */
  const skipWait = (id: string) =>
    eventually('the task to wait', async () => {
      const waiting = `status = 'running' and worker_id is null and lease_until > now()`;
      return (
        await query(`update tasks_live set lease_until = now() where id = $1 and ${waiting} returning id`, id)
      )[0];
    });

  it('uses the provider of a model if its key is set, and the sandbox otherwise', async () => {
    const [images, films] = [openai.submits, ark.submits];
    expect(await made({ ...aCat, n: 2 })).toMatchObject({ status: 'succeeded' });
    expect([openai.submits, ark.submits]).toEqual([images + 1, films]);
    expect(await made({ model: 'nano-banana-2', prompt: 'x' })).toMatchObject({ status: 'succeeded' });
    expect([openai.submits, ark.submits]).toEqual([images + 1, films]);
  });

  it('fails with provider_rejected for a wrong key, without naming the upstream', async () => {
    openai.plan(AN_IMAGE, OPENAI_FAULTS.badKey);
    const task = await made(limited);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'provider_rejected', retryable: false } });
    expect(JSON.stringify(task)).not.toMatch(/openai|127\.0\.0\.1|stub-key|\b401\b/i);
  });

  it('tries the next binding if the first certainly accepted nothing', async () => {
    const [submits, calls] = [openai.submits, openai.count(AN_IMAGE)];
    openai.plan(AN_IMAGE, OPENAI_FAULTS.badKey);
    expect(await made(aCat)).toMatchObject({ status: 'succeeded' });
    expect([openai.submits, openai.count(AN_IMAGE)]).toEqual([submits + 1, calls + 2]);
  });

  it('sends a prompt that commands an sd-server to no binding that may be one', async () => {
    const before = openai.count(AN_IMAGE);
    const task = await made({ ...aCat, prompt: 'x <sd_cpp_extra_args>{"steps": 1}</sd_cpp_extra_args>' });
    expect(task.error).toMatchObject({ code: 'provider_rejected', param: 'prompt' });
    expect(openai.count(AN_IMAGE)).toBe(before);
  });

  it('tries no other binding once a call may have been accepted', async () => {
    openai.plan(AN_IMAGE, { cut: 'after' });
    const before = openai.submits;
    expect((await made(aCat)).status).toBe('failed');
    expect(openai.submits).toBe(before + 1);
  });

  it('waits for Retry-After and retries', async () => {
    openai.plan(AN_IMAGE, { reply: { ...BUSY.reply, headers: { 'retry-after': '45' } } });
    const id = await begin(limited);
    const waiting = `extract(epoch from lease_until - created_at)::float8 as seconds from tasks where worker_id is null and attempt > 0`;
    const row = await eventually(
      'the task to wait',
      async () => (await query<{ seconds: number }>(`select ${waiting} and id = $1`, id))[0],
    );
    expect(row.seconds).toBeGreaterThanOrEqual(45);
    await skipWait(id);
    expect((await service.api.untilFinal(id)).status).toBe('succeeded');
  });

  it('waits for a provider that is away, however often', async () => {
    const rounds = 4; // more than the attempts of a task, and less than what opens the circuit
    openai.plan(AN_IMAGE, ...Array.from({ length: rounds }, () => BUSY));
    const before = openai.count(AN_IMAGE);
    const id = await begin(limited);
    for (let round = 1; round <= rounds; round += 1) {
      await eventually('the call', async () => openai.count(AN_IMAGE) >= before + round);
      if (round < rounds) await skipWait(id);
    }
    expect((await service.api.untilFinal(id)).status).toBe('succeeded');
  });

  it('does not send refused content to the next provider', async () => {
    openai.plan(AN_IMAGE, OPENAI_FAULTS.moderated);
    const before = openai.count(AN_IMAGE);
    expect((await made(aCat)).error?.code).toBe('content_policy_violation');
    expect(openai.count(AN_IMAGE)).toBe(before + 1);
  });

  it('polls a job to its end and stores provider, credential and job id for the operator', async () => {
    const id = await begin(aFilm);
    expect(await service.api.untilFinal(id)).toMatchObject({ status: 'succeeded' });
    const [row] = await query('select provider, credential, upstream_id from tasks where id = $1', id);
    expect(row).toMatchObject({
      provider: 'ark',
      credential: 'ARK_API_KEY',
      upstream_id: expect.stringMatching(/^cgt-/),
    });
  });

  it('records approximated parameters', async () => {
    const task = await made({ ...aFilm, model: 'seedance-2', aspect_ratio: '16:9', duration: 5 });
    expect(task.approximations).toEqual([{ param: 'duration', requested: '5', used: '4' }]);
  });

  it('refuses a request that no binding can express before it sends anything', async () => {
    const before = ark.submits;
    const task = await made({ ...aFilm, duration: 2 });
    expect(task.error).toEqual({
      code: 'provider_rejected',
      message: 'No provider of this model can do what duration asks for.',
      param: 'duration',
      retryable: false,
    });
    expect(ark.submits).toBe(before);
  });

  it('cancels the job at the upstream', async () => {
    const { id, before } = await polledJob();
    await service.api.cancel(id);
    await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
  });

  describe('cancels the job at the upstream although the cancellation was never published', () => {
    /** As if the process that accepted the cancellation died before it could publish it. */
    const cancelUnpublished = (id: string) =>
      query(END_TASK, id, JSON.stringify({ code: 'task_cancelled', message: 'Cancelled.', retryable: false }));

    it('between the answer to the paid call and its commit', async () => {
      const [before, rest] = [ark.count(/^DELETE/), Promise.withResolvers<void>()];
      const halves = ark.halves;
      ark.plan(/^POST .*tasks$/, { restAfter: rest.promise });
      const id = await begin(aFilm);
      await eventually('half of the answer', async () => ark.halves > halves);
      // Directly after a heartbeat, so that the next one cannot come before the rest of the answer.
      const lease = async () => (await query<{ at: string }>('select lease_until::text as at from tasks where id = $1', id))[0]!.at; // prettier-ignore
      const first = await lease();
      await eventually('a heartbeat', async () => (await lease()) !== first);
      await cancelUnpublished(id);
      rest.resolve();
      await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
    });

    it('during polling, at the next heartbeat', async () => {
      const { id, before } = await polledJob();
      await cancelUnpublished(id);
      await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
    });

    it('and the task was deleted after it', async () => {
      const { id, before } = await polledJob();
      await cancelUnpublished(id);
      expect((await service.api.call('DELETE', `/v1/tasks/${id}`)).status).toBe(200);
      await eventually('the cancellation at the upstream', async () => ark.count(/^DELETE/) > before);
    });
  });

  /** A job that never ends, after its first polls. */
  async function polledJob(): Promise<{ id: string; before: number }> {
    ark.steps = { queued: 1_000_000, running: 1 };
    const [tasks, before] = [ark.tasks.size, ark.count(/^DELETE/)];
    const id = await begin(aFilm);
    await eventually('the first polls', async () => ark.tasks.size > tasks && [...ark.tasks.values()].at(-1)?.polls);
    return { id, before };
  }

  it('limits concurrent calls over all processes', async () => {
    const rest = Promise.withResolvers<void>();
    openai.plan(AN_IMAGE, { restAfter: rest.promise }, { restAfter: rest.promise });
    const before = openai.count(AN_IMAGE);
    const first = [await begin(limited), await begin(limited)];
    await eventually('two calls', async () => openai.count(AN_IMAGE) === before + 2);
    // The process keeps its last place for other keys, so that another process claims the next tasks.
    const port = String(await freePort());
    const other = await startOwnService({ ...service.env, ROLE: 'worker', PORT: port }, service.database);
    try {
      const later = [await begin(limited), await begin(limited)];
      const HELD = `select id from tasks where id = any($1) and timeline::text like '%provider_limit%'`;
      await eventually('both to be held', async () => (await query(HELD, later)).length === 2);
      expect(openai.count(AN_IMAGE)).toBe(before + 2);
      rest.resolve();
      for (const id of [...first, ...later]) expect((await service.api.untilFinal(id)).status).toBe('succeeded');
      expect(openai.count(AN_IMAGE)).toBe(before + 4);
    } finally {
      rest.resolve();
      await other.close();
    }
  });
});
