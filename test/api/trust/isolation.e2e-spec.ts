// Own settings: bindings that are full, few places, and little room for reference images.
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aPicture } from '../../support/clients/files.ts';
import { Api } from '../../support/clients/api.ts';
import { anotherKey } from '../../support/clients/graphql-keys.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { GeminiStub } from '../../support/stubs/gemini.stub.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';

/** One in five is for keys that run nothing. */
const PLACES = 10;
/** Of the sandbox. */
const aHang = { model: 'nano-banana-pro', prompt: '#hang' };
const aFailure = { model: 'nano-banana-pro', prompt: '#fail:content_policy_violation' };
/** Its only binding runs one at a time. */
const aFull = { model: 'nano-banana-2', prompt: 'A heron' };
/** Its first binding runs one at a time, the sandbox is the next. */
const aHeron = { model: 'gpt-image-2', prompt: 'A heron' };
const MB = 1_000_000;

const openai = new OpenaiStub();
const gemini = new GeminiStub();
const folder = mkdtempSync(join(tmpdir(), 'darkroom-isolation-'));

let service: OwnService;
beforeAll(async () => {
  await Promise.all([openai.start(), gemini.start()]);
  const full = { concurrency: 1 };
  const models = {
    'gpt-image-2': [
      { provider: 'openai', model: 'gpt-image-2', base_url: openai.baseUrl, credential: 'OPENAI_API_KEY', ...full },
      { provider: 'sandbox', model: 'default' },
    ],
    'nano-banana-2': [
      { provider: 'gemini', model: 'gemini-3.1-flash-image', base_url: gemini.baseUrl, credential: 'GEMINI_API_KEY', ...full },
    ], // prettier-ignore
    'nano-banana-pro': [{ provider: 'sandbox', model: 'default' }],
    'seedance-2': [{ provider: 'sandbox', model: 'default' }],
  };
  const file = join(folder, 'providers.json');
  writeFileSync(file, JSON.stringify({ models }));
  service = await startOwnService({
    PROVIDERS: file,
    OPENAI_API_KEY: openai.key,
    GEMINI_API_KEY: gemini.key,
    WORKER_CONCURRENCY: String(PLACES),
    SCRATCH_MAX_BYTES: String(320 * MB),
    TASK_SWEEP_S: '0.3',
    TMPDIR: folder,
    LOG_LEVEL: 'error',
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([openai.stop(), gemini.stop()]);
  rmSync(folder, { recursive: true });
});

const keyWith = async (limits: object = {}) =>
  new Api(service.baseUrl, (await anotherKey(service.api, { limits })).key);
const createMany = async (key: Api, count: number, body: object): Promise<string[]> => {
  const made = [];
  for (let at = 0; at < count; at += 1) {
    const { status, body: task } = await key.create(body);
    expect(status).toBe(201);
    made.push(task.task_id);
  }
  return made;
};
const cancelAll = (key: Api, ids: string[]) => Promise.all(ids.map((id) => key.cancel(id)));
/** How many of the tasks this holds for. */
const count = async (ids: string[], condition: string) =>
  (await queryOnce(service.database.url, `select 1 from tasks where id = any($1) and ${condition}`, [ids])).length;
const HELD = `timeline::text like '%held%'`;

/** It could not while what hangs has every place: nothing of that ends. */
const assertEnds = async (key: Api, body: object) =>
  expect((await key.create(body, { prefer: 'wait=60' })).body.status).toBe('failed');

it('a key with more hanging tasks than there are places leaves some to others', async () => {
  const [greedy, other] = [await keyWith({ max_running: 0 }), await keyWith()];
  const made = await createMany(greedy, PLACES + 2, aHang);
  await eventually('its places to be taken', async () => (await count(made, `status = 'running'`)) === PLACES - 2);
  await assertEnds(other, aFailure);
  expect(await count(made, `status = 'running'`)).toBe(PLACES - 2);
  await cancelAll(greedy, made);
});

describe('a binding that is full', () => {
  it('stops no other model: its waiting tasks hold no place', async () => {
    gemini.plan(/^POST/, 'hang');
    const made = await createMany(service.api, 2 * PLACES, aFull);
    await eventually('the others to wait', async () => (await count(made, HELD)) >= PLACES);
    await assertEnds(service.api, aFailure);
    await cancelAll(service.api, made);
  });

  it('leaves its tasks to the next binding, if that is free', async () => {
    openai.plan(/^POST/, 'hang');
    const made = await createMany(service.api, 2, aHeron);
    const served = await Promise.race(made.map((id) => service.api.untilFinal(id)));
    expect(served.status).toBe('succeeded');
    const rows = await queryOnce<{ id: string; provider: string | null }>(
      service.database.url,
      'select id, provider from tasks where id = any($1)',
      [made],
    );
    const other = rows.find(({ id }) => id !== served.task_id);
    expect(other?.provider).toBe('openai'); // and the sandbox, which makes no paid call, served the first to end
    expect(rows.find(({ id }) => id === served.task_id)?.provider).toBeNull();
    await service.api.cancel(other!.id);
  });

  it('and the hanging tasks of one key delay neither the image of another key nor another model', async () => {
    gemini.plan(/^POST/, 'hang');
    const [greedy, waiting, other] = [await keyWith({ max_running: 0 }), await keyWith(), await keyWith()];
    const hanging = await createMany(greedy, PLACES, aHang);
    // Before the others are there: one of them could have a place that is not reserved.
    await eventually('the places to be taken', async () => (await count(hanging, `status = 'running'`)) === PLACES - 2);
    const full = await createMany(waiting, PLACES, aFull);
    await eventually('the binding to be full', async () => (await count(full, `status = 'running'`)) === 1);
    await assertEnds(other, aFailure);
    await assertEnds(other, { model: 'seedance-2', prompt: '#fail:provider_rejected' });
    await cancelAll(greedy, hanging);
    await cancelAll(waiting, full);
  });
});

describe('reference images', () => {
  let server: Server;
  let origin: string;
  let stalled = 0;
  beforeAll(async () => {
    const picture = await aPicture();
    server = createServer(({ url }, response) => {
      if (url === '/whole.png') response.end(picture);
      else {
        stalled += 1;
        response.writeHead(200, { 'content-type': 'image/png' }).write('a little');
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('keep within their budget, and the stalled downloads of one key leave room for another key', async () => {
    const reserved = async () =>
      Number(/^darkroom_reference_image_bytes_reserved (\d+)$/m.exec((await service.api.get('/metrics')).text)![1]);
    const [greedy, other] = [await keyWith({ max_running: 0 }), await keyWith()];
    const reference_images = [1, 2].map((nth) => `${origin}/stalled-${nth}.png`);
    const made = await createMany(greedy, 6, { ...aHang, reference_images });
    // Each image may become 20 MB. Four tasks leave room for as much of another key; two find none.
    await eventually('the budget of the key to be reserved', async () => (await reserved()) === 160 * MB);
    await eventually('the others to wait', async () => (await count(made, HELD)) === 2);
    await assertEnds(other, { ...aFailure, reference_images: [`${origin}/whole.png`] });
    expect([await reserved(), stalled <= 8]).toEqual([160 * MB, true]);
    await cancelAll(greedy, made);
    await eventually('nothing to be reserved', async () => (await reserved()) === 0);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => name.startsWith('darkroom-run') && name.includes('/'))).toEqual([]);
  });
});

describe('a storage that is away', () => {
  it('loses no result, and nothing more is generated meanwhile', async () => {
    const files = join(service.env.DATA_DIR!, 'files');
    renameSync(files, `${files}-away`);
    writeFileSync(files, 'not a folder');
    try {
      const before = openai.submits;
      const first = await createMany(service.api, 1, aHeron);
      await eventually('the first failure', async () => service.output().includes('storage.failed'));
      const more = await createMany(service.api, 5, aHeron);
      await eventually('the others to wait', async () => (await count(more, HELD)) === 5);
      expect([openai.submits - before, await count(more, 'submitted_at is not null')]).toEqual([1, 0]);
      rmSync(files);
      renameSync(`${files}-away`, files);
      for (const id of [...first, ...more]) expect((await service.api.untilFinal(id)).status).toBe('succeeded');
    } finally {
      openai.requests.splice(0);
    }
  });
});
