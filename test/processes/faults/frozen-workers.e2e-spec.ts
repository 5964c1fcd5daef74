import { setTimeout as sleep } from 'node:timers/promises';
import { FaultFleet, type Member } from '../../support/faults/fleet.ts';
import { queryOnce, type TaskRow } from '../../support/faults/watch.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';

/** The tests let leases expire in the database, so no slow machine loses one. */
const LEASE_S = 300;
/** A worker that continues has a second more than this to renew its leases, also on a busy machine. */
const HEARTBEAT_S = 8;
const FILMS = 6;
const PICTURES = 4;
/** While the workers are stopped, and until all has ended. */
const [NEVER_DONE, SOON_DONE] = [1e9, 5].map((running) => ({ queued: 1, running }));

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aPicture = { model: 'gpt-image-2', prompt: 'A cat on a roof' };

describe('workers that are stopped for longer than their leases', () => {
  let database: TestDatabase;
  let fleet: FaultFleet;
  const ark = new ArkStub();
  const openai = new OpenaiStub();
  beforeAll(async () => {
    database = await cloneDatabase();
    await Promise.all([ark.start(), openai.start()]);
    ark.real = true;
    fleet = await FaultFleet.on(database.url, {
      TASK_LEASE_S: String(LEASE_S),
      TASK_HEARTBEAT_S: String(HEARTBEAT_S),
      TASK_SWEEP_S: '0.3',
      PROVIDER_POLL_INTERVAL_MS: '200',
      LOG_LEVEL: 'warn',
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
    });
    await Promise.all([fleet.add('api'), fleet.add('worker'), fleet.add('worker')]);
  });
  afterAll(async () => {
    await fleet?.end();
    await Promise.all([ark.stop(), openai.stop()]);
    await database.drop();
  });

  const rowsOf = (ids: string[]) =>
    queryOnce<TaskRow>(database.url, 'select * from tasks where id = any($1) order by id', [ids]);

  /** As if the time of the leases had passed. */
  const lapse = (ids: string[]) =>
    queryOnce(database.url, `update tasks_live set lease_until = now() - interval '1 s' where id = any($1)`, [ids]);

  /**
   * Creates films and pictures and waits until all their paid calls were sent.
   * @param isSpread each of two workers claims some: the other one is stopped meanwhile
   * @returns what lets the films end and answers the calls of the pictures
   */
  async function startAll(isSpread = false): Promise<{ ids: string[]; goOn(): void }> {
    ark.steps = NEVER_DONE!;
    const answered = Promise.withResolvers<void>();
    openai.plan(/images/, ...Array.from({ length: PICTURES }, () => ({ after: answered.promise })));
    const [films, pictures] = [ark.submits + FILMS, openai.requests.length + PICTURES];
    const api = fleet.clientOf(fleet.apis[0]!);
    const ids: string[] = [];
    const submitted = async () =>
      (await rowsOf(ids)).filter(({ kind, upstream_id }) => kind === 'image' || upstream_id);
    const areSubmitted = () => eventually('the ids of the jobs', async () => (await submitted()).length === ids.length);
    const [first, second] = fleet.workers as [Member, Member];
    if (isSpread) fleet.pause(second);
    for (let nth = 0; nth < FILMS + PICTURES; nth += 1) {
      ids.push((await api.create(nth < FILMS ? aFilm : aPicture)).body.task_id);
      if (!isSpread || nth + 1 !== FILMS / 2) continue;
      await areSubmitted();
      fleet.pause(first);
      fleet.resume(second);
    }
    await eventually('all paid calls', async () => ark.submits === films && openai.requests.length === pictures);
    await areSubmitted();
    if (isSpread) fleet.resume(first);
    const goOn = () => {
      ark.steps = SOON_DONE!;
      answered.resolve();
    };
    return { ids, goOn };
  }

  const end = async (ids: string[]): Promise<TaskRow[]> =>
    eventually('all tasks to end', async () => {
      const rows = await rowsOf(ids);
      return rows.every(({ completed_at }) => completed_at !== null) && rows;
    });

  it('keep their tasks when all were stopped, as on a frozen machine', async () => {
    const [films, pictures] = [ark.submits, openai.submits];
    const { ids, goOn } = await startAll(true);
    const workers = new Set((await rowsOf(ids)).map(({ worker_id }) => worker_id));
    expect(workers.size).toBe(2);
    for (const worker of fleet.workers) fleet.pause(worker);
    await lapse(ids);
    await sleep((HEARTBEAT_S + 2) * 1000); // what a worker takes for a standstill
    const [first, second] = fleet.workers as [Member, Member];
    fleet.resume(first); // it finds expired leases of the other, which is about to continue
    await sleep(500);
    fleet.resume(second);
    goOn();

    const rows = await end(ids);
    expect(rows.map(({ status, attempt, losses }) => [status, attempt, losses])).toEqual(
      rows.map(() => ['succeeded', 1, 0]),
    );
    expect([ark.submits - films, openai.submits - pictures]).toEqual([FILMS, PICTURES]);
  });

  it('change nothing about the tasks that another worker has taken over meanwhile', async () => {
    const [first, second] = fleet.workers as [Member, Member];
    await second.service.kill('SIGKILL');
    const [films, pictures] = [ark.submits, openai.requests.length];
    const { ids, goOn } = await startAll();
    fleet.pause(first);
    await lapse(ids);
    await fleet.restart(second, 'SIGKILL');
    const taken = async () => (await rowsOf(ids)).filter(({ attempt, completed_at }) => attempt === 2 || completed_at);
    await eventually('the other worker to take all over', async () => (await taken()).length === ids.length);
    const successors = new Set((await rowsOf(ids)).map(({ worker_id }) => worker_id));
    expect(successors.size).toBe(1);
    goOn();
    fleet.resume(first); // its films have moved on, and its calls are answered

    const rows = await end(ids);
    await eventually('the old worker to notice', async () => first.service.output().includes('"event":"lease.lost"'));
    await sleep(HEARTBEAT_S * 1000); // and to do nothing about it
    expect(await rowsOf(ids)).toEqual(rows);
    expect(rows.map(({ status, attempt, worker_id }) => [status, attempt, successors.has(worker_id)])).toEqual(
      rows.map(() => ['succeeded', 2, true]),
    );
    expect(ark.submits - films).toBe(FILMS);
    expect(ark.count(/^DELETE /)).toBe(0);
    // A synchronous call has no job that the successor could find, so it calls again: once per attempt.
    expect(openai.requests.length - pictures).toBe(2 * PICTURES);
  });
});
