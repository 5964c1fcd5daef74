import { setTimeout as sleep } from 'node:timers/promises';
import { createWithRetries, type Attempt } from '../../support/faults/client.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { queryOnce, type TaskRow, TaskWatch } from '../../support/faults/watch.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { withPatience } from '../../support/test-env.ts';
import { eventually } from '../../support/wait.ts';

const LONG = process.env.DARKROOM_TEST_LONG === '1';
const ROUNDS = LONG ? 10 : 1;

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aRefusal = { model: 'nano-banana-2', prompt: '#delay:0.1 #fail:content_policy_violation' };

describe('processes start and stop in order, under load', () => {
  let database: TestDatabase;
  let fleet: FaultFleet;
  const ark = new ArkStub();
  beforeAll(async () => {
    await ark.start();
    ark.real = true;
    ark.steps = { queued: 1, running: 8 };
    database = await cloneDatabase();
    fleet = await FaultFleet.on(withPatience(database.url), {
      TASK_MAX_ATTEMPTS: '1', // an orderly shutdown uses up no attempt
      PROVIDER_POLL_INTERVAL_MS: '150',
      SHUTDOWN_GRACE_S: '0.5',
      LOG_LEVEL: 'warn',
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
    });
    await Promise.all([fleet.add('api'), fleet.add('api'), fleet.add('worker')]);
  });
  afterAll(async () => {
    await fleet?.end();
    await ark.stop();
    await database.drop();
  });

  /** Runs steady clients behind a balancer while `work` runs. The balancer tries the next API when one refuses. */
  async function underLoad(name: string, work: () => Promise<void>) {
    const watch = new TaskWatch(database.url);
    const accepted: string[] = [];
    const attempts: Attempt[] = [];
    const reads: number[] = [];
    const over = new AbortController();
    const clients = Array.from({ length: 3 }, async (_, client) => {
      for (let nth = 0; !over.signal.aborted; nth += 1) {
        const clientsInOrder = () => fleet.apis.map((member) => fleet.clientOf(member));
        const apis = () => (nth % 2 === 0 ? clientsInOrder() : clientsInOrder().toReversed());
        const one = await createWithRetries(apis, nth % 4 === 0 ? aFilm : aRefusal, `${name}-${client}-${nth}`);
        accepted.push(one.taskId);
        attempts.push(...one.attempts);
        for (const api of apis()) {
          const status = await api.get(`/v1/tasks/${one.taskId}`).then(
            (answer) => answer.status,
            () => 0,
          );
          reads.push(status);
        }
        await sleep(60);
      }
    });
    try {
      await work();
    } catch (error) {
      await watch.stop();
      throw error;
    } finally {
      over.abort();
      await Promise.all(clients);
    }
    const unfinished = `select count(*)::int as n from tasks where status in ('queued', 'running')`;
    const noneLeft = async () => (await queryOnce<{ n: number }>(database.url, unfinished))[0]!.n === 0;
    await eventually('every task to end', noneLeft);
    const rows = await watch.stop();
    expect(watch.violations).toEqual([]);
    expect(rows.filter(({ id }) => accepted.includes(id))).toHaveLength(accepted.length);
    return { rows, attempts, reads, accepted };
  }

  const films = (rows: TaskRow[]) => rows.filter(({ kind }) => kind === 'video');
  const counts = (numbers: number[]) =>
    numbers.reduce<Record<number, number>>((all, number) => ({ ...all, [number]: (all[number] ?? 0) + 1 }), {});

  it('a process that starts, and therefore migrates, makes no request at the others fail', async () => {
    const { attempts, reads } = await underLoad('beside', async () => void (await fleet.add('worker')));
    expect(counts(attempts.map(({ status }) => status))).toEqual({ 201: attempts.length });
    expect(counts(reads)).toEqual({ 200: reads.length });
  });

  it(
    'a rolling restart of two API and two worker processes: no task is lost, none loses an attempt',
    async () => {
      const { rows, attempts, reads, accepted } = await underLoad('rolling', async () => {
        for (let round = 0; round < ROUNDS; round += 1) {
          for (const member of fleet.members.slice()) {
            await fleet.restart(member, 'SIGTERM');
            await sleep(300);
          }
        }
      });
      process.stdout.write(
        `${JSON.stringify({ rolling: accepted.length, creates: counts(attempts.map(({ status }) => status)), reads: counts(reads), released: rows.filter(({ attempt }) => attempt > 1).length, film_submits: ark.submits })}\n`,
      );
      expect(films(rows).map(({ status, error }) => error?.code ?? status)).toEqual(films(rows).map(() => 'succeeded'));
      expect(rows.filter(({ losses }) => losses !== 0)).toEqual([]);
      expect(ark.submits).toBe(films(rows).length);
      // A stopped process refuses connections (0), and a stopping one answers 503; no client gets anything else.
      expect(attempts.filter(({ status }) => ![0, 201, 503].includes(status))).toEqual([]);
      expect(reads.filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
    },
    LONG ? 1_800_000 : 300_000,
  );

  it('a newer version adds a column and an index beside the old one: no request and no task fails', async () => {
    const { attempts, reads, rows } = await underLoad('newer', async () => {
      await sleep(700);
      await queryOnce(database.url, `alter table tasks_live add column of_the_future text`);
      await queryOnce(database.url, `alter table api_keys add column of_the_future text`);
      await queryOnce(database.url, `alter table webhook_events add column of_the_future text`);
      await queryOnce(database.url, `alter table tasks_done add column of_the_future text`);
      await queryOnce(database.url, `create index concurrently of_the_future on tasks_done (of_the_future)`);
      await sleep(1_000);
    });
    expect(counts(attempts.map(({ status }) => status))).toEqual({ 201: attempts.length });
    expect(counts(reads)).toEqual({ 200: reads.length });
    expect(films(rows).filter(({ status }) => status !== 'succeeded')).toEqual([]);
    expect(fleet.output()).not.toContain('internal_error');
  });
});
