import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testEnv } from '../support/test-env.ts';
import type { Api, TaskBody } from '../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { queryOnce, type TaskRow } from '../support/faults/watch.ts';
import { LockedRows } from '../support/faults/locked-rows.ts';
import { PictureServer } from '../support/servers/picture-server.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import type { StubHttp } from '../support/stubs/stub-http.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

/** The long form repeats each crash twenty times. */
const LONG = process.env.DARKROOM_TEST_LONG === '1';
const ROUNDS = LONG ? 20 : 1;
/** Time-out of one round on a busy machine. */
const ROUND_MS = 120_000;
const WAIT_MS = 30_000;
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
  /** The worker that ended the last task; the next crash kills it. */
  let survivor: ServiceProcess | null = null;
  const ark = new ArkStub();
  const fal = new FalStub();
  const openai = new OpenaiStub();
  const pictures = new PictureServer();
  beforeAll(async () => {
    await Promise.all([ark.start(), fal.start(), openai.start(), pictures.start()]);
    receiver = await Receiver.start();
    ark.real = true;
    ark.steps = { queued: 1, running: 2 };
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, {
      TASK_LEASE_S: '3',
      TASK_HEARTBEAT_S: '0.4',
      TASK_SWEEP_S: '0.3',
      TASK_MAX_ATTEMPTS: '10', // a slow machine loses a lease now and then
      PROVIDER_POLL_INTERVAL_MS: '100',
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
    front = await spawnService({ ...env, ROLE: 'api' });
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

  /** Runs one worker to the point, kills it with -9, and runs another until the task is final and its webhook delivered. */
  async function crash(body: object, reach: Reach): Promise<TaskBody & { attempt: number }> {
    const victim = survivor ?? (await worker());
    survivor = null;
    const { body: created } = await api.create(body);
    const taskId = created.task_id;
    const afterKill = await reach(taskId).finally(() => victim.kill('SIGKILL'));
    if (afterKill !== true) await afterKill();
    survivor = await worker();
    const task = await api.untilFinalWithin(taskId, WAIT_MS);
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
    await eventually('its webhook', async () => receivedFor(taskId).length > 0, WAIT_MS);
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
    return () => eventually('the request', async () => stub.count(pattern) >= target, WAIT_MS);
  };

  /** Until half of the next answer has been sent to the worker; the rest follows when the promise resolves. */
  const halfAnswered = (stub: StubHttp, pattern: RegExp, rest = never): Reach => {
    const target = stub.halves + 1;
    stub.plan(pattern, { restAfter: rest });
    return () => eventually('half of the answer', async () => stub.halves >= target, WAIT_MS);
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
        await eventually('the end of the task to wait', () => ledger.areAwaited(), WAIT_MS);
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

  const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
  const points: [name: string, body: () => object, arrange: () => Reach][] = [
    [
      'before the submit',
      () => ({ ...aFilm, first_frame_image_url: pictures.holdNext() }),
      () => () => eventually('the first frame to be fetched', async () => pictures.held > 0, WAIT_MS),
    ],
    ['after the acceptance, before our commit', () => aFilm, () => halfAnswered(ark, SUBMIT)],
    ['after our commit, while polling', () => aFilm, () => asked(ark, POLL, 2)],
    ['while the download runs', () => aFilm, () => halfAnswered(ark, DOWNLOAD)],
    ['after the download, before the finish is committed', () => aFilm, aboutToFinish],
  ];

  it.each(points)(
    'video: %s',
    async (_, body, arrange) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const submits = ark.submits;
        const task = await crash(body(), arrange());
        expect(task).toMatchObject({ status: 'succeeded', progress: 100 });
        expect(ark.submits).toBe(submits + 1);
      }
    },
    ROUND_MS * ROUNDS,
  );

  it(
    'video: where the upstream cannot find a job, the outcome is unknown and nothing is sent again',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const submits = fal.submits;
        const task = await crash({ model: 'sora-2', prompt: 'A slow river' }, halfAnswered(fal, /^POST .*-to-video$/));
        expect(task.error).toMatchObject({ code: 'provider_outcome_unknown', retryable: false });
        expect(fal.submits).toBe(submits + 1);
      }
    },
    ROUND_MS * ROUNDS,
  );

  it(
    'picture made within one call: the call is made again, within the attempts',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const submits = openai.submits;
        const task = await crash(
          { model: 'gpt-image-2', prompt: 'A cat' },
          halfAnswered(openai, /images\/generations/),
        );
        expect(task.status).toBe('succeeded');
        expect(openai.submits).toBeGreaterThan(submits + 1);
        expect(openai.submits).toBeLessThanOrEqual(submits + task.attempt);
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
