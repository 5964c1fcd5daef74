import { setTimeout as sleep } from 'node:timers/promises';
import { type BatchBody, BatchClient } from '../../support/clients/batches.ts';
import { createWithRetries, type Attempt } from '../../support/faults/client.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { queryOnce, type TaskRow, TaskWatch } from '../../support/faults/watch.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { ArkStub } from '../../support/stubs/ark.stub.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';
import { WebhookClient } from '../../support/clients/webhook-client.ts';

const LONG = process.env.DARKROOM_TEST_LONG === '1';
/** Number of tasks, and of faults during their creation. */
const [TASKS, FAULTS] = LONG ? [600, 60] : [24, 3];
/** Small batches, items of each large one, and kills of workers, each during a large one. */
const [BATCHES, ITEMS, KILLS] = LONG ? [60, 100, 6] : [20, 30, 1];
const LEASE_S = 3;
const SEED = Number(process.env.DARKROOM_TEST_SEED ?? Date.now() % 1e6);

const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
const aPicture = { model: 'gpt-image-2', prompt: 'A cat on a roof' };
/** Runs in the sandbox. */
const aRefusal = { model: 'nano-banana-2', prompt: '#delay:0.2 #fail:content_policy_violation' };

describe(`kill -9, SIGSTOP and SIGCONT at random under load (seed ${SEED})`, () => {
  let database: TestDatabase;
  let fleet: FaultFleet;
  let receiver: Receiver;
  const ark = new ArkStub();
  const openai = new OpenaiStub();
  beforeAll(async () => {
    database = await cloneDatabase();
    receiver = await Receiver.start();
    await Promise.all([ark.start(), openai.start()]);
    await ark.prepare(aFilm.duration);
    fleet = await FaultFleet.on(database.url, {
      TASK_LEASE_S: String(LEASE_S),
      TASK_HEARTBEAT_S: '0.4',
      TASK_SWEEP_S: '0.3',
      TASK_MAX_ATTEMPTS: '50', // no task may run out of attempts here
      PROVIDER_POLL_INTERVAL_MS: '150',
      MAX_RUNNING_PER_KEY: '0',
      WEBHOOK_RETRY_SCHEDULE: '1,1,1,1,1,1,1',
      WEBHOOK_TIMEOUT_MS: '1000',
      LOG_LEVEL: 'warn',
      ARK_API_KEY: ark.key,
      ARK_BASE_URL: ark.baseUrl,
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
    });
    await Promise.all([fleet.add('api'), fleet.add('api'), fleet.add('worker'), fleet.add('worker')]);
    await new WebhookClient(fleet.apis[0]!.service.api).endpoint(receiver.url);
  });
  afterAll(async () => {
    await fleet?.end();
    await Promise.all([ark.stop(), openai.stop(), receiver.stop()]);
    await database.drop();
  });

  it(
    'every accepted task ends once, and no upstream is paid twice',
    async () => {
      ark.steps = { queued: 1, running: 6 };
      const watch = new TaskWatch(database.url);
      const random = randomOf(SEED);
      const faults: string[] = [];
      const loaded = new AbortController();
      const storm = (async () => {
        for (let nth = 0; nth < FAULTS || !loaded.signal.aborted; nth += 1) faults.push(await fault(fleet, random));
      })();

      const attempts: Attempt[] = [];
      const accepted: string[] = [];
      const bodies = [aFilm, aPicture, aRefusal];
      const clients = Array.from({ length: 4 }, async (_, client) => {
        for (let nth = client; nth < TASKS; nth += 4) {
          const one = await createWithRetries(
            () => (Math.random() < 0.5 ? apis() : apis().toReversed()),
            bodies[nth % 3]!,
            `storm-${nth}`,
          );
          accepted.push(one.taskId);
          attempts.push(...one.attempts);
          await sleep(1_200 * Math.random()); // the load must last as long as the faults
        }
      });
      await Promise.all(clients).finally(() => loaded.abort());
      await storm;

      const unfinished = `select count(*)::int as n from tasks where status in ('queued', 'running')`;
      const noneLeft = async () => (await queryOnce<{ n: number }>(database.url, unfinished))[0]!.n === 0;
      await eventually('every task to end', noneLeft);
      const delivered = () => new Set(receiver.received.map(({ event }) => event.data.task_id));
      await eventually('every end to be delivered', async () => delivered().size >= TASKS);
      const rows = await watch.stop();

      expect(watch.violations).toEqual([]);
      expect(rows.map(({ id }) => id)).toEqual(accepted.toSorted()); // no task is lost or made twice
      expect(outcomes(rows)).toEqual({ succeeded: (TASKS / 3) * 2, content_policy_violation: TASKS / 3 });
      expect(ark.submits).toBe(TASKS / 3);
      const pictures = rows.filter(({ upstream_id, kind, error }) => kind === 'image' && !upstream_id && !error);
      expect(openai.submits).toBeLessThanOrEqual(pictures.reduce((sum, { attempt }) => sum + attempt, 0));
      await checkEvents(database.url, receiver, rows);
      const load = 'select sum(queued)::int as queued, sum(running)::int as running from key_load';
      expect(await queryOnce(database.url, load)).toEqual([{ queued: 0, running: 0 }]);
      // 409: a stopped worker locked the key_load row for longer than the 2 s that a create waits.
      const isKnown = ({ status, took }: Attempt) => [0, 201, 503].includes(status) || (status === 409 && took > 1_900);
      expect(attempts.filter((attempt) => !isKnown(attempt))).toEqual([]);
      process.stdout.write(
        `${JSON.stringify({ tasks: rows.length, faults: count(faults), taken_over: rows.filter(({ losses }) => losses > 0).length, film_submits: ark.submits, picture_submits: openai.submits, pictures: pictures.length, webhooks: receiver.received.length, polls: watch.polls, failed_attempts: attempts.filter(({ status }) => status !== 201).length })}\n`,
      );
    },
    LONG ? 1_800_000 : 300_000,
  );

  it('batches each end once with exact counts, also when their last items end at the same time in two processes', async () => {
    const ends = await Receiver.start();
    const api = fleet.clientOf(fleet.apis[0]!);
    await new WebhookClient(api).endpoint(ends.url, { events: ['batch.completed'] });
    const batches = new BatchClient(api);
    // In the sandbox. After 0 to 5 s, so that items are at work when a worker is killed.
    const failure = (nth: number) => ({
      model: 'nano-banana-2',
      prompt: `#delay:${nth % 6} #fail:provider_rejected`,
    });
    const made: BatchBody[] = [];
    const small = (async () => {
      for (let nth = 0; nth < BATCHES; nth += 1) made.push(await batches.of([failure(0), failure(0)]));
    })();
    const running = `select 1 from tasks where status = 'running'`;
    for (let nth = 0; nth < KILLS; nth += 1) {
      made.push(await batches.of(Array.from({ length: ITEMS }, (_, item) => failure(item))));
      await eventually('items at work', async () => (await queryOnce(database.url, running)).length > 4);
      await fleet.restart(fleet.workers[nth % 2]!, 'SIGKILL');
    }
    await small;
    for (const { id, request_counts } of made) {
      const ended = await batches.untilEnded(id);
      expect(ended).toMatchObject({
        status: 'completed',
        counts: { failed: request_counts.total, queued: 0, running: 0 },
      });
    }
    const ids = made.map(({ id }) => id).toSorted();
    await eventually('a webhook of every batch', async () => receivedIds(ends).size === ids.length);
    const events = await queryOnce<{ id: string }>(
      database.url,
      `select body::json->'data'->>'id' as id from webhook_events where type = 'batch.completed' order by 1`,
    );
    expect(events.map(({ id }) => id)).toEqual(ids);
    await ends.stop();
  });

  const apis = () => fleet.apis.map((member) => fleet.clientOf(member));
});

const receivedIds = (receiver: Receiver): Set<unknown> => new Set(receiver.received.map(({ event }) => event.data.id));

/** Injects one fault and restores two workers and two APIs. @returns the kind of fault */
async function fault(fleet: FaultFleet, random: () => number): Promise<string> {
  await sleep(200 + 500 * random());
  const pick = <T>(all: T[]): T => all[Math.floor(random() * all.length)]!;
  const kind = pick(['kill worker', 'kill worker', 'stop worker', 'stop worker', 'kill api']);
  const member = pick(kind === 'kill api' ? fleet.apis : fleet.workers);
  if (kind === 'stop worker') {
    fleet.pause(member);
    await sleep((LEASE_S + 1.5 * random()) * 1000);
    fleet.resume(member);
  } else await fleet.restart(member, 'SIGKILL');
  return kind;
}

/** Each task has one event, in the database and at the receiver; repeated deliveries have the same id. */
async function checkEvents(url: string, receiver: Receiver, rows: TaskRow[]): Promise<void> {
  const events = await queryOnce<{ id: string; task_id: string }>(url, 'select id, task_id from webhook_events');
  expect(events.map(({ task_id }) => task_id).toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  const idOf = new Map(events.map(({ id, task_id }) => [task_id, id]));
  for (const { event } of receiver.received) expect(event.id).toBe(idOf.get(event.data.task_id));
}

const outcomes = (rows: TaskRow[]) => count(rows.map(({ status, error }) => error?.code ?? status));

function count(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** A random generator with a seed, so that faults can be repeated (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
