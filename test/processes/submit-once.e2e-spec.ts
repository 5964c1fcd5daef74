import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testEnv } from '../support/test-env.ts';
import type { Api, TaskBody } from '../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { SHORT_TIMES } from '../support/faults/fleet.ts';
import { queryOnce, type TaskRow } from '../support/faults/watch.ts';
import { LockedRows } from '../support/faults/locked-rows.ts';
import { PictureServer } from '../support/servers/picture-server.ts';
import { allReady, type ServiceProcess, spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import type { StubHttp } from '../support/stubs/stub-http.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

/** The long form repeats the crash twenty times. */
const LONG = process.env.DARKROOM_TEST_LONG === '1';
const ROUNDS = LONG ? 20 : 1;
/** Time-out of one round. */
const ROUND_MS = 300_000;
const SUBMIT = /^POST .*\/contents\/generations\/tasks$/;
const POLL = /^GET .*\/contents\/generations\/tasks\/cgt-/;
const DOWNLOAD = /^GET \/store\//;
const never = new Promise<void>(() => undefined);

/** Waits until the worker reaches the point of the crash. A returned function is called once the worker is dead. */
type Reach = (taskId: string) => Promise<true | (() => Promise<void>)>;

describe('kill -9 of the worker never pays twice, and every task ends', () => {
  let database: TestDatabase;
  let api: Api;
  let front: ServiceProcess;
  let env: Record<string, string>;
  let receiver: Receiver;
  /** The worker that ended the last tasks; the next crash kills it. */
  let survivor: ServiceProcess | null = null;
  const ark = new ArkStub();
  const fal = new FalStub();
  const openai = new OpenaiStub();
  const pictures = new PictureServer();
  beforeAll(async () => {
    await Promise.all([ark.start(), fal.start(), openai.start(), pictures.start()]);
    receiver = await Receiver.start();
    ark.real = true;
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, {
      ...SHORT_TIMES,
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
    }));
    env.PROVIDERS = join(env.DATA_DIR as string, 'providers.yaml');
    env.FAL_KEY = fal.key;
    writeFileSync(
      env.PROVIDERS,
      `models: { sora-2: [{ provider: fal, model: bytedance/seedance-2.0, base_url: "${fal.origin}" }] }`,
    );
    [front, survivor] = await allReady([spawnService({ ...env, ROLE: 'api' }), worker()]);
    ({ api } = front);
    await new WebhookClient(api).endpoint(receiver.url);
  });
  afterAll(async () => {
    await survivor?.kill('SIGTERM');
    await front?.kill('SIGTERM');
    await Promise.all([ark.stop(), fal.stop(), openai.stop(), pictures.stop(), receiver.stop()]);
    await database.drop();
  });

  const worker = async () => {
    const { env: own } = await testEnv(database.url, { ...env, PORT: '0' });
    return spawnService({ ...own, ROLE: 'worker' });
  };

  /** Waits until the task is final and its webhook delivered. */
  async function ended(taskId: string): Promise<TaskBody & { attempt: number }> {
    const task = await api.untilFinal(taskId);
    await expectOneEvent(task);
    const { attempt } = await rowOf(taskId);
    expect(attempt).toBeGreaterThan(1); // the victim died while it ran the task
    return { ...task, attempt };
  }

  async function expectOneEvent({ task_id: taskId, status }: TaskBody): Promise<void> {
    const events = await queryOnce<{ id: string }>(database.url, 'select id from webhook_events where task_id = $1', [
      taskId,
    ]);
    expect(events).toHaveLength(1);
    await eventually('its webhook', async () => receivedFor(taskId).length > 0);
    for (const { headers, event } of receivedFor(taskId)) {
      expect(headers['webhook-id']).toBe(events[0]?.id);
      expect(event.data.status).toBe(status);
    }
  }

  const receivedFor = (taskId: string) => receiver.received.filter(({ event }) => event.data.task_id === taskId);
  const rowOf = async (taskId: string) =>
    (
      await queryOnce<TaskRow & { api_key_id: string }>(database.url, 'select * from tasks where id = $1', [taskId])
    )[0]!;

  /** Until the stub has received `times` more requests. */
  const asked = (stub: StubHttp, pattern: RegExp, times = 1): Reach => {
    const target = stub.count(pattern) + times;
    return () => eventually('the request', async () => stub.count(pattern) >= target);
  };

  /** Until half of the next answer has been sent to the worker; the rest follows when the promise resolves. */
  const halfAnswered = (stub: StubHttp, pattern: RegExp, rest = never): Reach => {
    const target = stub.halves + 1;
    stub.plan(pattern, { restAfter: rest });
    return () => eventually('half of the answer', async () => stub.halves >= target);
  };

  /** Until the video is in storage and the statement that ends the task waits for a row that the test has locked. */
  const aboutToFinish = (): Reach => {
    const rest = Promise.withResolvers<void>();
    const downloading = halfAnswered(ark, DOWNLOAD, rest.promise);
    return async (taskId) => {
      await downloading(taskId);
      // Only the end of a task writes this row, so a waiting statement is that end. What waits for the counters has its commit sent already.
      const ledger = await LockedRows.by(
        database.url,
        `insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, source, images, video_seconds, submits, cost_micros, basis)
         values ('${taskId}', '', now(), '', '', '', '', 0, 0, 0, 0, '')`,
      );
      try {
        rest.resolve();
        await eventually('the end of the task to wait', () => ledger.areAwaited());
        expect(stored(taskId)).toContain('1-0.mp4');
        expect((await rowOf(taskId)).status).toBe('running');
      } catch (error) {
        await ledger.release();
        throw error;
      }
      return () => ledger.release();
    };
  };
  const stored = (taskId: string) => readdirSync(join(env.DATA_DIR as string, 'files', taskId));

  const FRAMES = { queued: 1, running: 2 };
  const NEVER_DONE = { queued: 1, running: 1e9 };
  const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
  /** Each task waits at its point until the worker is dead. `steps` are those of the films from this point to the kill. */
  const points: { at: string; body: () => object; steps?: typeof FRAMES; arrange: () => Reach }[] = [
    { at: 'while the download runs', body: () => aFilm, arrange: () => halfAnswered(ark, DOWNLOAD) },
    { at: 'after the download, before the finish is committed', body: () => aFilm, arrange: aboutToFinish },
    {
      at: 'before the submit',
      body: () => ({ ...aFilm, first_frame_image_url: pictures.holdNext() }),
      arrange: () => () => eventually('the first frame to be fetched', async () => pictures.held > 0),
    },
    { at: 'after the acceptance, before our commit', body: () => aFilm, arrange: () => halfAnswered(ark, SUBMIT) },
    { at: 'after our commit, while polling', body: () => aFilm, steps: NEVER_DONE, arrange: () => asked(ark, POLL, 2) },
    { at: 'within a submit that cannot be found', body: () => ({ ...aFilm, model: 'sora-2' }), arrange: () => halfAnswered(fal, /^POST .*-to-video$/) }, // prettier-ignore
    { at: 'within the one call for a picture', body: () => ({ model: 'gpt-image-2', prompt: 'A cat' }), arrange: () => halfAnswered(openai, /images\/generations/) }, // prettier-ignore
  ];

  it(
    `one kill, while there is a task at each of ${points.length} points`,
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = { ark: ark.submits, fal: fal.submits, openai: openai.submits };
        const victim = survivor ?? (await worker());
        survivor = null;
        const ids = new Map<string, string>();
        const afterKill: (() => Promise<void>)[] = [];
        ark.steps = FRAMES;
        try {
          for (const { at, body, steps, arrange } of points) {
            if (steps) ark.steps = steps;
            const reach = arrange();
            const { task_id: id } = (await api.create(body())).body;
            ids.set(at, id);
            const more = await reach(id);
            if (more !== true) afterKill.push(more);
          }
        } finally {
          await victim.kill('SIGKILL');
          for (const act of afterKill) await act();
        }
        ark.steps = FRAMES;
        survivor = await worker();
        const tasks = await Promise.all([...ids].map(async ([at, id]) => Object.assign(await ended(id), { at })));
        const films = tasks.filter(({ model }) => model === 'seedance-2');
        expect(films.map(({ at, status, progress }) => [at, status, progress])).toEqual(
          films.map(({ at }) => [at, 'succeeded', 100]),
        );
        expect(ark.submits).toBe(before.ark + films.length);

        // Where the upstream cannot find a job, the outcome is unknown and nothing is sent again.
        const unknown = tasks.find(({ model }) => model === 'sora-2')!;
        expect(unknown.error).toMatchObject({ code: 'provider_outcome_unknown', retryable: false });
        expect(fal.submits).toBe(before.fal + 1);

        // A picture is made within one call, which is made again within the attempts.
        const picture = tasks.find(({ model }) => model === 'gpt-image-2')!;
        expect(picture.status).toBe('succeeded');
        expect(openai.submits).toBeGreaterThan(before.openai + 1);
        expect(openai.submits).toBeLessThanOrEqual(before.openai + picture.attempt);
      }
    },
    ROUND_MS * ROUNDS,
  );

  it('every one of these tasks was delivered as exactly one event', async () => {
    const tasks = await queryOnce<{ id: string }>(database.url, 'select id from tasks');
    const delivered = new Set(
      receiver.received.map(({ event, headers }) => `${event.data.task_id} ${headers['webhook-id']}`),
    );
    expect([...delivered].map((one) => one.split(' ')[0]).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
    if (!LONG) return;
    const [films, unknown, pictures] = [ark.submits, fal.submits, openai.submits];
    const counts = { tasks: tasks.length, films, unknown, pictures, webhooks: receiver.received.length };
    process.stdout.write(`${JSON.stringify(counts)}\n`);
  });
});
