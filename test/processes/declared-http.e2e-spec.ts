import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, TaskBody } from '../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { SHORT_TIMES } from '../support/faults/fleet.ts';
import { queryOnce, type TaskRow } from '../support/faults/watch.ts';
import { allReady, type ServiceProcess, spawnService } from '../support/process.ts';
import { PictureServer } from '../support/servers/picture-server.ts';
import { VendorStub } from '../support/stubs/vendor.stub.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

const SUBMIT = /^POST \/v2\/films$/;
const LOOKUP = /^GET \/v2\/films$/;
const DOWNLOAD = /^GET \/store\//;
const never = new Promise<void>(() => undefined);

const declared = (id: string, baseUrl: string, lookup: string) => `id: ${id}
kind: video
description: Films of a vendor.
parameters: { prompt: {}, duration: { enum: [1], default: 1 }, first_frame_image_url: {} }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings:
  - provider: http
    base_url: ${baseUrl}
    credential: VENDOR_KEY
    auth: 'X-Api-Key: {{key}}'
    submit:
      path: /films
      json: { text: '{{prompt}}', seconds: '{{duration}}', start: '{{first_frame_image_url}}', ref: '{{task_id}}' }
      id: $.film.id
    poll: { path: '/films/{{job_id}}', status: $.state, done: [ready], failed: [failed], progress: $.percent }
    outputs: $.files[*].url
${lookup}`;

const LOOKUPS = {
  found: `    lookup: { path: '/films?ref={{task_id}}', id: '$.items[0].id' }\n`,
  certain: `    lookup: { path: '/films?ref={{task_id}}', id: '$.items[0].id', certain: true }\n`,
  none: '',
};

type Lookup = keyof typeof LOOKUPS;
const UNKNOWN = 'provider_outcome_unknown, false';

/** Until the worker is at the point at which it is killed. */
type Reach = () => Promise<unknown>;

describe('kill -9 of a worker that calls a declared server', () => {
  const vendor = new VendorStub();
  const pictures = new PictureServer();
  let database: TestDatabase;
  let env: Record<string, string>;
  let front: ServiceProcess;
  let worker: ServiceProcess;
  let api: Api;
  beforeAll(async () => {
    await Promise.all([vendor.start(), pictures.start()]);
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, {
      ...SHORT_TIMES,
      VENDOR_KEY: vendor.key,
    }));
    env.MODELS = join(env.DATA_DIR as string, 'declared');
    mkdirSync(env.MODELS);
    for (const [id, lookup] of Object.entries(LOOKUPS)) {
      writeFileSync(join(env.MODELS, `${id}.yaml`), declared(id, vendor.baseUrl, lookup));
    }
    [front, worker] = await allReady([spawnService({ ...env, ROLE: 'api' }), startWorker()]);
    ({ api } = front);
  });
  afterAll(async () => {
    await Promise.all([worker, front].map((each) => each?.kill('SIGTERM')));
    await Promise.all([vendor.stop(), pictures.stop()]);
    await database.drop();
  });
  async function startWorker(settings: Record<string, string> = {}): Promise<ServiceProcess> {
    const { env: own } = await testEnv(database.url, { ...env, PORT: '0', ...settings });
    return spawnService({ ...own, ROLE: 'worker' });
  }

  const asked = (pattern: RegExp): Reach => {
    const target = vendor.count(pattern) + 1;
    return () => eventually('the request', async () => vendor.count(pattern) >= target);
  };
  const halfAnswered = (pattern: RegExp): Reach => {
    const target = vendor.halves + 1;
    vendor.plan(pattern, { restAfter: never });
    return () => eventually('half of the answer', async () => vendor.halves >= target);
  };
  /** The request arrives and takes no effect. */
  const lostOnTheWay = (): Reach => {
    const reach = asked(SUBMIT);
    vendor.plan(SUBMIT, 'hang');
    return reach;
  };
  const ready = (polls: number) => {
    vendor.pollsToReady = polls;
  };

  /** Each task waits at its point until the worker is dead. */
  const points: { at: string; body?: () => object; arrange: () => Reach; ends: Record<Lookup, string> }[] = [
    {
      at: 'before the submit',
      body: () => ({ first_frame_image_url: pictures.holdNext() }),
      arrange: () => () => eventually('the image to be fetched', async () => pictures.held > 0),
      ends: { found: 'succeeded', certain: 'succeeded', none: 'succeeded' },
    },
    {
      at: 'within a submit that the server never sees',
      arrange: lostOnTheWay,
      ends: { found: UNKNOWN, certain: 'succeeded', none: UNKNOWN },
    },
    {
      at: 'after the submit, before its id is written',
      arrange: () => halfAnswered(SUBMIT),
      ends: { found: 'succeeded', certain: 'succeeded', none: UNKNOWN },
    },
    {
      at: 'while it polls',
      arrange: () => {
        ready(Infinity);
        const nth = vendor.jobs.size;
        return () => eventually('a poll of this job', async () => ([...vendor.jobs.values()][nth]?.polls ?? 0) > 0);
      },
      ends: { found: 'succeeded', certain: 'succeeded', none: 'succeeded' },
    },
    {
      at: 'while it fetches',
      arrange: () => halfAnswered(DOWNLOAD),
      ends: { found: 'succeeded', certain: 'succeeded', none: 'succeeded' },
    },
  ];

  it('at any point, with and without a lookup, buys each film once at most', async () => {
    const tasks: { id: string; at: string; model: Lookup; ends: string }[] = [];
    try {
      for (const { at, body, arrange, ends } of points) {
        for (const model of Object.keys(LOOKUPS) as Lookup[]) {
          ready(2);
          const reach = arrange();
          const { task_id: id } = (await api.create({ model, prompt: 'A slow river', ...body?.() })).body;
          tasks.push({ id, at, model, ends: ends[model] });
          await reach();
        }
      }
    } finally {
      await worker.kill('SIGKILL');
    }
    ready(2);
    for (const job of vendor.jobs.values()) job.toReady = 2;
    vendor.plan(LOOKUP, { reply: { status: 503, body: {} } }, { cut: 'before' }); // the task waits, and asks again
    worker = await startWorker();
    const seen = await Promise.all(tasks.map(async ({ id, at, model }) => `${at}, ${model}: ${await endOf(id)}`));
    expect(seen).toEqual(tasks.map(({ at, model, ends }) => `${at}, ${model}: ${ends}`));
    const bought = [...vendor.jobs.values()].map(({ ref }) => ref);
    expect(new Set(bought).size).toBe(bought.length);
    const made = tasks.filter(({ at, ends }) => ends === 'succeeded' || at.startsWith('after')).map(({ id }) => id);
    expect(bought.toSorted()).toEqual(made.toSorted());
  }, 300_000);

  it('ends a task whose answers are lost each time after its attempts, though the lookup is certain', async () => {
    await worker.kill('SIGTERM');
    worker = await startWorker({ TASK_MAX_ATTEMPTS: '3', TASK_LEASE_S: '30' }); // no lost lease takes an attempt
    const before = vendor.count(SUBMIT);
    vendor.plan(SUBMIT, ...Array.from({ length: 6 }, () => ({ cut: 'before' as const })));
    const { task_id: id } = (await api.create({ model: 'certain', prompt: 'A slow river' })).body;
    const { error, usage } = await api.untilFinal(id);
    expect(error).toMatchObject({ code: 'provider_outcome_unknown', retryable: false });
    expect(vendor.count(SUBMIT) - before).toBe(3);
    expect(usage).toMatchObject({ submits: 1 }); // the vendor says of the others that it never had them
  }, 60_000);

  /** @returns the error, or `succeeded` */
  async function endOf(id: string): Promise<string> {
    const { status, error }: TaskBody = await api.untilFinal(id);
    const [row] = await queryOnce<TaskRow>(database.url, 'select * from tasks where id = $1', [id]);
    expect(row!.attempt).toBeGreaterThan(1); // the victim died while it ran the task
    return error ? `${error.code}, ${error.retryable}` : status;
  }
});
