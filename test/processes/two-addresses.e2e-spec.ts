import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { SHORT_TIMES } from '../support/faults/fleet.ts';
import { allReady, type ServiceProcess, spawnService } from '../support/process.ts';
import { SdServerStub } from '../support/stubs/sd-server.stub.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

const SUBMIT = /^POST \/sdcpp\/v1\/img_gen$/;

const pair = (urls: string[]) => `id: pair
kind: image
description: Pictures of two equal servers.
parameters: { prompt: {}, size: { default: 256x256 } }
sizes: { pixels: { step: 64, min_side: 256, max_side: 512 } }
bindings:
  - provider: openai
    dialect: sd-server
    base_urls: [${urls.join(', ')}]
    model: flux
    credential: null
    concurrency: 4
`;

describe('a model with two addresses', () => {
  const servers = [new SdServerStub(), new SdServerStub()] as const;
  let database: TestDatabase;
  let env: Record<string, string>;
  let front: ServiceProcess;
  let worker: ServiceProcess;
  let api: Api;

  beforeAll(async () => {
    await Promise.all(servers.map((server) => server.start()));
    // The second one counts its jobs from 11, so that no id is known at both.
    for (let job = 1; job <= 10; job++) await submitTo(servers[1]);
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, {
      ...SHORT_TIMES,
    }));
    env.MODELS = join(env.DATA_DIR as string, 'declared');
    mkdirSync(env.MODELS);
    writeFileSync(join(env.MODELS, 'pair.yaml'), pair(servers.map(({ baseUrl }) => baseUrl)));
    [front, worker] = await allReady([spawnService({ ...env, ROLE: 'api' }), startWorker()]);
    ({ api } = front);
  });
  afterAll(async () => {
    await Promise.all([worker, front].map((each) => each?.kill('SIGTERM')));
    await Promise.all(servers.map((server) => server.stop()));
    await database.drop();
  });

  const submitTo = async (server: SdServerStub): Promise<unknown> =>
    fetch(`${server.origin}/sdcpp/v1/img_gen`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'a', batch_count: 1, width: 256, height: 256 }),
    });
  async function startWorker(): Promise<ServiceProcess> {
    const { env: own } = await testEnv(database.url, { ...env, PORT: '0' });
    return spawnService({ ...own, ROLE: 'worker' });
  }
  const polled = (server: SdServerStub): string[] => [
    ...new Set(server.requests.flatMap(({ path }) => /^\/sdcpp\/v1\/jobs\/([^/]+)$/.exec(path)?.[1] ?? [])),
  ];
  const jobsOf = (from: number, count: number) => Array.from({ length: count }, (_, at) => `job_${from + at}`);
  const waiting = () => {
    for (const server of servers) server.pollsToComplete = Infinity;
  };
  const ready = () => {
    for (const server of servers) server.pollsToComplete = 1;
  };

  it('shares tasks evenly, and a killed worker leaves each at its address', async () => {
    waiting();
    const tasks = await Promise.all(Array.from({ length: 6 }, () => api.create({ model: 'pair', prompt: 'a cat' })));
    await eventually('all jobs to be polled', async () => servers.every((server) => polled(server).length === 3));
    await worker.kill('SIGKILL');
    ready();
    worker = await startWorker();
    for (const { body } of tasks) await api.until(body.task_id, 'succeeded');
    expect(servers.map((server) => server.count(SUBMIT))).toEqual([3, 13]);
    expect(polled(servers[0])).toEqual(expect.arrayContaining(jobsOf(1, 3)));
    expect(polled(servers[1]).toSorted()).toEqual(jobsOf(11, 3));
    expect(polled(servers[0])).toHaveLength(3);
  });

  it('goes on at the address of a killed server, and gives new tasks to the other', async () => {
    waiting();
    const held = await Promise.all([1, 2].map(() => api.create({ model: 'pair', prompt: 'a dog' })));
    await eventually('both jobs to be polled', async () => servers.every((server) => polled(server).length === 4));
    await servers[0].stop();
    servers[1].pollsToComplete = 1;
    const more = await api.create({ model: 'pair', prompt: 'a fox' });
    await api.until(more.body.task_id, 'succeeded');
    await servers[0].start();
    ready();
    for (const { body } of held) await api.until(body.task_id, 'succeeded');
    expect(servers.map((server) => server.count(SUBMIT))).toEqual([4, 15]);
    expect(polled(servers[0])).toEqual(expect.arrayContaining(jobsOf(4, 1)));
    expect(polled(servers[1]).toSorted()).toEqual(jobsOf(11, 5));
  });
});
