import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testEnv } from '../support/app.ts';
import type { Api, TaskBody } from '../support/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { PictureServer } from '../support/picture-server.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import type { StubHttp } from '../support/stubs/stub-http.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

/** The long form repeats each crash twenty times. */
const ROUNDS = process.env.DARKROOM_TEST_LONG === '1' ? 20 : 1;
const SUBMIT = /^POST .*\/contents\/generations\/tasks$/;
const POLL = /^GET .*\/contents\/generations\/tasks\/cgt-/;
const DOWNLOAD = /^GET \/store\//;

describe('kill -9 of the worker never pays twice, and every task ends', () => {
  let database: TestDatabase;
  let api: Api;
  let front: ServiceProcess;
  let env: Record<string, string>;
  const ark = new ArkStub();
  const fal = new FalStub();
  const openai = new OpenaiStub();
  const pictures = new PictureServer();
  beforeAll(async () => {
    await Promise.all([ark.start(), fal.start(), openai.start(), pictures.start()]);
    ark.real = true;
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, {
      TASK_LEASE_S: '3',
      TASK_HEARTBEAT_S: '0.4',
      TASK_SWEEP_S: '0.3',
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
  });
  afterAll(async () => {
    await front?.kill('SIGTERM');
    await Promise.all([ark.stop(), fal.stop(), openai.stop(), pictures.stop()]);
    await database.drop();
  });
  beforeEach(() => {
    ark.steps = { queued: 1, running: 2 };
  });

  const worker = async () => {
    const { env: own } = await testEnv(database.url, { ...env, PORT: '0' });
    return spawnService({ ...own, ROLE: 'worker' });
  };

  /** One worker until `reached`, then kill -9, then another worker until the task is final. */
  async function crash(body: object, reached: () => Promise<boolean>): Promise<TaskBody> {
    const first = await worker();
    const { body: task } = await api.create(body);
    await eventually('the point of the crash', reached);
    await first.kill('SIGKILL');
    const second = await worker();
    try {
      return await api.untilFinalWithin(task.task_id, 60_000);
    } finally {
      await second.kill('SIGTERM');
    }
  }

  const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
  const more = (stub: StubHttp, pattern: RegExp, times = 1) => {
    const before = stub.count(pattern);
    return async () => stub.count(pattern) >= before + times;
  };

  const points: [name: string, body: () => object, arrange: () => () => Promise<boolean>][] = [
    [
      'before the submit',
      () => ({ ...aFilm, first_frame_image_url: pictures.holdNext() }),
      () => async () => pictures.held > 0,
    ],
    [
      'after the acceptance, before our commit',
      () => aFilm,
      () => {
        ark.plan(SUBMIT, { delayMs: 400 });
        return more(ark, SUBMIT);
      },
    ],
    ['after our commit, while polling', () => aFilm, () => more(ark, POLL, 2)],
    ['while or after the download', () => aFilm, () => more(ark, DOWNLOAD)],
  ];

  it.each(points)(
    'video: %s',
    async (_, body, arrange) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const submits = ark.submits;
        const reached = arrange();
        const task = await crash(body(), reached);
        expect(task).toMatchObject({ status: 'succeeded', progress: 100 });
        expect(ark.submits).toBe(submits + 1);
      }
    },
    180_000 * ROUNDS,
  );

  it('video: where the upstream cannot tell, the outcome is unknown and nothing is sent again', async () => {
    const submit = /^POST .*\/text-to-video$/;
    fal.plan(submit, { delayMs: 3_000 }); // long enough for the kill to come first
    const task = await crash({ model: 'sora-2', prompt: 'A slow river' }, more(fal, submit));
    expect(task.error).toMatchObject({ code: 'provider_outcome_unknown', retryable: false });
    await eventually('the call to be accepted', async () => fal.submits > 0);
    expect(fal.submits).toBe(1);
  }, 180_000);

  it('picture made within one call: the call is made again, within the attempts', async () => {
    openai.plan(/images\/generations/, { delayMs: 400 });
    const submits = openai.submits;
    const task = await crash({ model: 'gpt-image-2', prompt: 'A cat' }, more(openai, /images\/generations/));
    expect(task.status).toBe('succeeded');
    expect(openai.submits).toBeLessThanOrEqual(submits + 2);
  }, 180_000);
});
