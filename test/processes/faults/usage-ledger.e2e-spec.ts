import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, TaskBody } from '../../support/clients/api.ts';
import { createWithRetries } from '../../support/faults/client.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';

const LONG = process.env.DARKROOM_TEST_LONG === '1';
/** Of cancels with ends, and of kills of workers: the last two workers fall together, and an API process with them. */
const [RACES, KILLS] = LONG ? [200, 7] : [40, 2];

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aPicture = { model: 'gpt-image-2', prompt: 'A cat on a roof' };
const aRefusal = (delayS: number) => ({ model: 'nano-banana-2', prompt: `#delay:${delayS} #fail:provider_rejected` });
/** What one call for these costs. */
const FULL: Record<string, number> = { 'seedance-2': 600_000, 'gpt-image-2': 40_000, 'nano-banana-2': 70_000 };
const PROVIDERS = `
prices:
  - { provider: ark, model: seedance-2, per_second: "0.15" }
  - { provider: openai, per_image: "0.04" }
  - { provider: sandbox, model: nano-banana-2, per_image: "0.07", on_failure: full }
`;

interface Row {
  id: string;
  model: string;
  status: string;
  error: { code: string } | null;
  submitted_at: Date | null;
  submits: number;
  lost_submits: number;
  losses: number;
}

/** The cost of a task by the rules of docs/api/usage.md, from its record alone. */
function costOf({ model, status, error, submitted_at, lost_submits }: Row): { cost: number; basis: string } {
  const full = FULL[model]!;
  const own = () => {
    if (status === 'succeeded') return { cost: full, basis: 'priced' };
    if (submitted_at === null) return { cost: 0, basis: 'free' };
    return { cost: full, basis: error?.code === 'provider_rejected' ? 'priced' : 'assumed' };
  };
  const { cost, basis } = own();
  return { cost: cost + lost_submits * full, basis: lost_submits > 0 ? 'assumed' : basis };
}

describe('the ledger under kill -9', () => {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-ledger-'));
  const ark = new ArkStub();
  const openai = new OpenaiStub();
  let database: TestDatabase;
  let fleet: FaultFleet;
  beforeAll(async () => {
    database = await cloneDatabase();
    await Promise.all([ark.start(), openai.start()]);
    ark.real = true;
    const file = join(folder, 'providers.yaml');
    writeFileSync(file, PROVIDERS);
    fleet = await FaultFleet.on(database.url, {
      PROVIDERS: file,
      TASK_LEASE_S: '3',
      TASK_HEARTBEAT_S: '0.4',
      TASK_SWEEP_S: '0.3',
      TASK_MAX_ATTEMPTS: '50', // no task may run out of attempts here
      FILE_RETENTION_DAYS: '0.0002', // the purge runs twice in this time
      PROVIDER_POLL_INTERVAL_MS: '150',
      RATE_CREATE_PER_MIN: '0',
      RATE_READ_PER_MIN: '0',
      LOG_LEVEL: 'warn',
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
    });
    await Promise.all((['api', 'api', 'worker', 'worker'] as const).map((role) => fleet.add(role)));
  });
  afterAll(async () => {
    await fleet?.end();
    await Promise.all([ark.stop(), openai.stop()]);
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it(`equals a recount of the tasks after ${KILLS} kills of workers, takeovers, ${RACES} cancel races and the purge`, async () => {
    ark.steps = { queued: 1, running: 12 };
    const apis = fleet.apis.map((member) => fleet.clientOf(member));
    const [api] = apis as [Api, Api];
    let made = 0;
    const create = async (body: object, name: string) => {
      const turn = made++ % 2;
      return (await createWithRetries(() => [apis[turn]!, apis[1 - turn]!], body, name)).taskId;
    };
    const over = new AbortController();
    const storm = (async () => {
      const running = `select id from tasks where model = 'seedance-2' and status = 'running' and upstream_id is not null`;
      for (let nth = 1; nth < KILLS; nth += 1) {
        await eventually('films at work', async () => (await queryOnce(database.url, running)).length > 1);
        const fallen = nth === KILLS - 1 ? fleet.workers : [fleet.workers[nth % 2]!];
        if (nth === KILLS - 1) fallen.push(fleet.apis[1]!);
        await Promise.all(fallen.map((member) => fleet.restart(member, 'SIGKILL')));
      }
    })().finally(() => over.abort());
    let films = 0;
    const works = (async () => {
      // The load lasts as long as the faults.
      for (; !over.signal.aborted; films += 1) {
        await Promise.all([create(aFilm, `film-${films}`), create(aPicture, `picture-${films}`)]);
        await sleep(1_500);
      }
    })();
    const races = Array.from({ length: RACES }, async (_, nth) => {
      await sleep(nth * 20);
      // Every tenth lasts so long that the cancel wins on a slow machine too.
      const delayS = nth % 10 === 0 ? 60 : (nth % 3) / 10;
      const id = await create(aRefusal(delayS), `race-${nth}`);
      await sleep(Math.random() * 600);
      // Both cancels are sent at once, to two processes, of which one may be down.
      const cancels = await Promise.allSettled(apis.map((one) => one.cancel(id)));
      expect(cancels.some(({ status }) => status === 'fulfilled')).toBe(true);
    });
    await Promise.all([storm, works, ...races]);
    const unfinished = `select count(*)::int as n from tasks where status in ('queued', 'running')`;
    const isDone = async () => (await queryOnce<{ n: number }>(database.url, unfinished))[0]!.n === 0;
    await eventually('every task to end', isDone);

    const rows = await queryOnce<Row>(database.url, 'select * from tasks order by id');
    expect(rows).toHaveLength(2 * films + RACES);
    const recount = rows.map((row) => ({ task_id: row.id, submits: row.submits, ...outcomeOf(row), ...costOf(row) }));
    const ledger = `select task_id, submits, outcome, cost_micros::float8 as cost, basis from usage_ledger order by task_id`;
    expect(await queryOnce(database.url, ledger)).toEqual(recount);

    // One after the other: a busy machine refuses some of hundreds at once.
    const shown: TaskBody[] = [];
    for (const { id } of rows) shown.push(await api.untilFinal(id));
    const ofView = ({ task_id, usage }: TaskBody) => {
      const { submits, cost } = usage as { submits: number; cost: { amount_micros: number; basis: string } };
      return { task_id, submits, cost: cost.amount_micros, basis: cost.basis };
    };
    expect(shown.map(ofView)).toEqual(
      recount.map(({ task_id, submits, cost, basis }) => ({ task_id, submits, cost, basis })),
    );

    // No call that reached a provider is missing, and no film was bought twice.
    const submitsOf = (model: string) => sum(rows.filter((row) => row.model === model).map(({ submits }) => submits));
    expect(ark.submits).toBe(films);
    expect(submitsOf('seedance-2')).toBe(films);
    expect(openai.submits).toBeLessThanOrEqual(submitsOf('gpt-image-2'));
    // The test is worth nothing unless both sides of the races won, and workers were lost.
    const outcomes = new Set(recount.map(({ outcome }) => outcome));
    expect(outcomes).toEqual(new Set(['succeeded', 'failed', 'cancelled']));
    expect(rows.filter(({ losses }) => losses > 0).length).toBeGreaterThan(0);

    const expected = {
      tasks: rows.length,
      submits: sum(recount.map(({ submits }) => submits)),
      cost_micros: sum(recount.map(({ cost }) => cost)),
      assumed_micros: sum(recount.map(({ cost, basis }) => (basis === 'assumed' ? cost : 0))),
      ...countsOf(recount.map(({ outcome }) => outcome)),
    };
    const path = '/v1/usage?start_time=1700000000&bucket_width=all';
    const totals = async () => (await api.get<{ totals: object }>(path)).body.totals;
    expect(await totals()).toMatchObject(expected);
    // A worker that was killed while it deleted files has reserved their tasks for five minutes.
    await queryOnce(database.url, `update tasks_done set expires_at = now() - interval '1 s', purge_after = null`);
    const left = async () => (await queryOnce<{ n: number }>(database.url, 'select count(*)::int as n from tasks'))[0]!;
    await eventually('the purge', async () => (await left()).n === 0);
    const summed = `select count(*)::int as n from usage_ledger where rolled_up`;
    await eventually('the sums', async () => (await queryOnce<{ n: number }>(database.url, summed))[0]!.n > 0);
    expect(await totals()).toMatchObject(expected);
  }, 480_000);
});

const outcomeOf = ({ status, error }: Row) => ({ outcome: error?.code === 'task_cancelled' ? 'cancelled' : status });

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

function countsOf(names: string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
