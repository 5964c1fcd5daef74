import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { CutLine } from '../../support/faults/cut-line.ts';
import { createWithRetries, quantile, type Attempt, attemptCreate } from '../../support/faults/client.ts';
import { FaultFleet, SHORT_TIMES } from '../../support/faults/fleet.ts';
import { FaultPostgres } from '../../support/faults/postgres.ts';
import { queryOnce, TaskWatch } from '../../support/faults/watch.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { busyness, eventually } from '../../support/wait.ts';

const LONG = process.env.DARKROOM_TEST_LONG === '1';
const AWAY_MS = LONG ? 10_000 : 3_000;
/** The API refuses within 2.5 s, however the database fails; a busy machine may take twice as long, or longer. */
const refusedWithinMs = () => 5_000 * busyness();
/** Creations of each client while the database is away. */
const FEWEST_EACH = 3;
/** By then the readiness probe reports the absence. */
const READY_AFTER_MS = 2_600;
const backWithinMs = () => 10_000 * busyness();

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aRefusal = { model: 'nano-banana-2', prompt: '#fail:content_policy_violation' };

/** Rate limits that no test reaches; they make the service count requests. */
const COUNTED = { RATE_CREATE_PER_MIN: '5000', RATE_READ_PER_MIN: '5000' };

describe('the database goes away under load, and comes back', () => {
  let postgres: FaultPostgres;
  /** From the worker to the database. */
  let line: CutLine;
  let fleet: FaultFleet;
  const ark = new ArkStub();
  beforeAll(async () => {
    [postgres] = await Promise.all([FaultPostgres.start(), ark.start()]);
    ark.real = true;
    ark.steps = { queued: 1, running: 15 };
    await migrate(postgres.url);
    const server = new URL(postgres.url);
    line = await CutLine.to(server.hostname, Number(server.port));
    server.port = String(line.port);
    fleet = await FaultFleet.on(postgres.url, {
      ...SHORT_TIMES,
      LOG_LEVEL: 'warn',
      ...COUNTED,
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
    });
    await Promise.all([fleet.add('api'), fleet.add('worker', { DATABASE_URL: server.href })]);
  });
  afterAll(async () => {
    await fleet?.end();
    await line?.close();
    await postgres.remove();
    await ark.stop();
  });

  afterEach(() => postgres.thaw());

  const api = () => fleet.clientOf(fleet.apis[0]!);
  const apis = () => [api()];

  /** Runs load and probes while the database is away. @returns the creates and the readiness during that time */
  async function whileAway(name: string, leave: () => Promise<void>, comeBack: () => Promise<void>) {
    const watch = new TaskWatch(postgres.url);
    const films = await Promise.all(
      [1, 2, 3, 4].map((nth) => createWithRetries(apis, aFilm, `${name}-${nth}`).then(({ taskId }) => taskId)),
    );
    for (const id of films) await api().until(id, 'running');

    await leave();
    const awaySince = performance.now();
    const during: Attempt[] = [];
    const health: number[] = [];
    const ready: number[] = [];
    const accepted = [...films];
    let nth = 0;
    const creators = Array.from({ length: 4 }, async () => {
      for (let own = 0; own < FEWEST_EACH || performance.now() - awaySince < AWAY_MS; own += 1) {
        during.push(await attemptCreate(api(), aRefusal, `${name}-away-${(nth += 1)}`));
        await sleep(50);
      }
    });
    const prober = (async () => {
      while (performance.now() - awaySince < AWAY_MS - 500) {
        const startedAt = performance.now();
        health.push((await api().get('/healthz')).status);
        expect(performance.now() - startedAt).toBeLessThan(refusedWithinMs());
        if (performance.now() - awaySince > READY_AFTER_MS) ready.push((await api().get('/readyz')).status);
        await sleep(200);
      }
      await sleep(Math.max(0, READY_AFTER_MS - (performance.now() - awaySince)));
      ready.push((await api().get('/readyz')).status);
    })();
    await Promise.all([...creators, prober]);
    await comeBack();

    const backAt = performance.now();
    accepted.push((await createWithRetries(apis, aRefusal, `${name}-back`)).taskId);
    const backAfter = performance.now() - backAt;
    await eventually('to be ready', async () => (await api().get('/readyz')).status === 200);
    // Retries the refused creates with the same keys: some may have been stored after all.
    for (let again = 1; again <= Math.min(nth, 20); again += 1) {
      accepted.push((await createWithRetries(apis, aRefusal, `${name}-away-${again}`)).taskId);
    }
    const unfinished = `select count(*)::int as n from tasks where status in ('queued', 'running')`;
    const noneLeft = async () => (await queryOnce<{ n: number }>(postgres.url, unfinished))[0]!.n === 0;
    await eventually('every task to end', noneLeft);
    const rows = await watch.stop();
    const byId = new Map(rows.map((row) => [row.id, row]));
    process.stdout.write(
      `${JSON.stringify({
        name,
        away_ms: AWAY_MS,
        asked: during.length,
        worst_ms: Math.round(
          quantile(
            during.map(({ took }) => took),
            1,
          ),
        ),
        p50_ms: Math.round(
          quantile(
            during.map(({ took }) => took),
            0.5,
          ),
        ),
        back_after_ms: Math.round(backAfter),
        taken_over: rows.filter(({ losses }) => losses > 0).length,
        submits: ark.submits,
      })}\n`,
    );

    expect(watch.violations).toEqual([]);
    expect(films.map((id) => byId.get(id)?.error ?? byId.get(id)?.status)).toEqual(films.map(() => 'succeeded'));
    for (const id of accepted) expect(byId.has(id)).toBe(true);
    expect(new Set(health)).toEqual(new Set([200]));
    expect(backAfter).toBeLessThan(backWithinMs());
    return { during, ready };
  }

  /** A request in flight when the database came back may be accepted; every other one gets 503. */
  function expectRefusals(during: Attempt[]): void {
    expect(during.length).toBeGreaterThan(8);
    for (const { status, retryAfter, code, took } of during) {
      if (status === 201) continue;
      expect([status, code]).toEqual([503, 'service_unavailable']);
      expect(Number(retryAfter)).toBeGreaterThan(0);
      expect(took).toBeLessThan(refusedWithinMs());
    }
    expect(during.filter(({ status }) => status === 503).length).toBeGreaterThan(4);
  }

  it('crashes and starts again', async () => {
    const submits = ark.submits;
    const { during, ready } = await whileAway(
      'crash',
      () => postgres.stop('immediate'),
      () => postgres.startAgain(),
    );
    expectRefusals(during);
    expect(new Set(ready)).toEqual(new Set([503]));
    expect(ark.submits).toBe(submits + 4);
  });

  it('is silent: accepts connections and answers nothing', async () => {
    const submits = ark.submits;
    const { during } = await whileAway(
      'silence',
      async () => postgres.freeze(),
      async () => postgres.thaw(),
    );
    expectRefusals(during);
    expect(ark.submits).toBe(submits + 4);
  });

  it('goes away between a paid call and the commit of its answer: the answer is committed when it is back', async () => {
    const submits = ark.submits;
    ark.plan(/^POST .*\/contents\/generations\/tasks$/, { delayMs: 700 });
    const { taskId } = await createWithRetries(apis, aFilm, 'between');
    await eventually('the paid call', async () => ark.count(/^POST .*\/contents\/generations\/tasks$/) > submits);
    await postgres.stop('immediate');
    await eventually('its acceptance', async () => ark.submits === submits + 1);
    await sleep(300);
    await postgres.startAgain();
    const ended = await eventually('the end', async () => {
      const [row] = await queryOnce<{ status: string; error: unknown }>(
        postgres.url,
        'select status, error from tasks where id = $1',
        [taskId],
      );
      return row && ['succeeded', 'failed'].includes(row.status) && row;
    });
    expect(ended).toEqual({ status: 'succeeded', error: null });
    expect(ark.submits).toBe(submits + 1);
  });

  it.each(['busy', 'idle'])(
    'drops every packet of the old connections from the worker, and new ones work: its jobs continue although they were never closed (the worker was %s)',
    async (name) => {
      const submits = ark.submits;
      const films: string[] = [];
      if (name === 'busy') {
        for (const nth of [1, 2]) films.push((await createWithRetries(apis, aFilm, `${name}-${nth}`)).taskId);
        for (const id of films) await api().until(id, 'running');
      }
      line.freeze();
      const waiting = await createWithRetries(apis, aRefusal, `${name}-waiting`);
      await sleep(AWAY_MS);
      expect((await api().get(`/v1/tasks/${waiting.taskId}`)).body.status).toBe('queued');

      line.mend(); // for new connections; the old ones stay dead
      const backAt = performance.now();
      // Without detection, a dead connection would block for a quarter of an hour.
      await api().untilFinal(waiting.taskId);
      const backAfter = performance.now() - backAt;
      const later = await createWithRetries(apis, aRefusal, `${name}-later`);
      await api().untilFinal(later.taskId);
      for (const id of films) expect((await api().untilFinal(id)).error?.code ?? 'none').toBe('none');
      expect(ark.submits).toBe(submits + films.length);
      process.stdout.write(`${JSON.stringify({ swallowed: name, away_ms: AWAY_MS, job_back_after_ms: backAfter })}\n`);
    },
  );
});
