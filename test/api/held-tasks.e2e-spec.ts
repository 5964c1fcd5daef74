// A service of its own, because its provider is a stub with one place, which the test keeps taken.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aFailure, aHang, Api } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

const AN_IMAGE = /images\/generations/;
const ofFull = { model: 'nano-banana-pro', prompt: 'x' };
const MAX_RUNNING = 2;

describe('tasks that wait for a full provider', () => {
  const openai = new OpenaiStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-held-'));
  let service: OwnService;
  let api: Api;
  let keyId: string;
  let rest: PromiseWithResolvers<void>;
  beforeAll(async () => {
    await openai.start();
    const file = join(folder, 'providers.yaml');
    writeFileSync(
      file,
      `models:
  gpt-image-2: [{ provider: sandbox, model: default }]
  nano-banana-pro: [{ provider: openai, model: gpt-image-2, concurrency: 1 }]`,
    );
    service = await startOwnService({
      PROVIDERS: file,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      TASK_SWEEP_S: '0.3',
      WORKER_CONCURRENCY: '10',
    });
  });
  beforeEach(async () => {
    const { id, key } = await anotherKey(service.api, { limits: { max_running: MAX_RUNNING } });
    [keyId, api, rest] = [id, new Api(service.baseUrl, key), Promise.withResolvers<void>()];
    openai.plan(AN_IMAGE, { restAfter: rest.promise });
  });
  afterEach(() => rest.resolve());
  afterAll(async () => {
    await service?.close();
    await openai.stop();
    rmSync(folder, { recursive: true });
  });

  const create = async (body: object) => (await api.create(body)).body.task_id;
  /** Of the key. */
  const load = async () => {
    const text = 'select running, held, running - held as active from key_load where api_key_id = $1';
    const [row] = await queryOnce<Record<string, number>>(service.database.url, text, [keyId]);
    return row!;
  };
  const untilHeld = (held: number) => eventually(`${held} to be held`, async () => (await load()).held === held);
  const parked = async () =>
    (await queryOnce<{ id: string }>(service.database.url, 'select id from tasks_live where parked order by id')).map(({ id }) => id); // prettier-ignore
  /** The first one takes the only place of the provider. */
  const fill = async (waiting: number): Promise<string[]> => {
    const before = openai.count(AN_IMAGE);
    const ids = [await create(ofFull)];
    await eventually('the place to be taken', async () => openai.count(AN_IMAGE) > before);
    for (let nth = 0; nth < waiting; nth += 1) {
      ids.push(await create(ofFull));
      if (nth < MAX_RUNNING) await untilHeld(nth + 1);
    }
    return ids;
  };

  it('leave their places to other tasks of their key, and run later', async () => {
    const ids = await fill(2);
    expect((await api.untilFinal(await create(aFailure))).status).toBe('failed');
    for (const id of ids) expect((await api.get<{ status: string }>(`/v1/tasks/${id}`)).body.status).toBe('running');
    rest.resolve();
    for (const id of ids) expect((await api.untilFinal(id)).status).toBe('succeeded');
    expect(await load()).toEqual({ running: 0, held: 0, active: 0 });
  });

  it('take a place again before they run, and the limit holds', async () => {
    const ids = await fill(2);
    const other = await create(aHang);
    await api.until(other, 'running');
    await eventually('both to be parked', async () => (await parked()).join() === ids.slice(1).join());
    expect(await load()).toEqual({ running: 4, held: 2, active: MAX_RUNNING });
    const queued = await create(aFailure);
    await eventually('the next one to be parked', async () => (await parked()).length === 3);
    rest.resolve();
    for (const id of [...ids, queued]) await api.untilFinal(id);
    await api.cancel(other);
    expect(await load()).toEqual({ running: 0, held: 0, active: 0 });
  });

  it('are at most as many as may run; the next ones keep their places', async () => {
    const ids = await fill(3);
    await eventually('one to keep its place', async () => {
      const { running, active } = await load();
      return running === 4 && active === MAX_RUNNING;
    });
    const queued = await create(aFailure);
    await eventually('it to be parked', async () => (await parked()).includes(queued));
    expect(await load()).toEqual({ running: 4, held: MAX_RUNNING, active: MAX_RUNNING });
    rest.resolve();
    for (const id of [...ids, queued]) await api.untilFinal(id);
  });
});
