import { setTimeout as sleep } from 'node:timers/promises';
import { aFailure, Api } from '../../support/clients/api.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const isLong = process.env.DARKROOM_TEST_LONG === '1';
const [PROCESSES, TASKS] = isLong ? [4, 100_000] : [2, 1_000];
const CLIENTS = 32;
/** A task may be created this much after another one was answered, and start first. */
const TOGETHER_MS = 1_000;
/** Times of two claims that run at the same moment are in any order. */
const CLAIMS_MS = 1_000;

interface Creation {
  id: string;
  sentMs: number;
  answeredMs: number;
}
type Started = Creation & { startedMs: number };

/** Tasks that started although one that was answered long before they were sent had not. */
function overtaking(tasks: readonly Started[]): Started[] {
  const answered = tasks.toSorted((a, b) => a.answeredMs - b.answeredMs);
  let [at, latestMs] = [0, -Infinity];
  return tasks
    .toSorted((a, b) => a.sentMs - b.sentMs)
    .filter(({ sentMs, startedMs }) => {
      for (; at < answered.length && answered[at]!.answeredMs + TOGETHER_MS < sentMs; at += 1)
        latestMs = Math.max(latestMs, answered[at]!.startedMs);
      return startedMs + CLAIMS_MS < latestMs;
    });
}

describe('the tasks of one API key, in several processes', () => {
  const services: OwnService[] = [];
  beforeAll(async () => {
    const settings = { MAX_RUNNING_PER_KEY: '0', WORKER_CONCURRENCY: '4' };
    services.push(await startOwnService(settings));
    const [{ env, database }] = services as [OwnService];
    const { DATA_DIR, SECRET_KEY, BOOTSTRAP_API_KEY } = env as Record<string, string>;
    const own = { ...settings, DATA_DIR: DATA_DIR!, SECRET_KEY: SECRET_KEY!, BOOTSTRAP_API_KEY: BOOTSTRAP_API_KEY! };
    for (let nth = 1; nth < PROCESSES; nth += 1) services.push(await startOwnService(own, database));
  });
  afterAll(async () => {
    for (const service of services.toReversed()) await service.close();
  });

  it('start in the order of their creations', async () => {
    const [first] = services as [OwnService];
    const created: Creation[] = [];
    let left = TASKS;
    const client = async (api: Api) => {
      while (left > 0) {
        left -= 1;
        const sentMs = performance.now();
        const { status, body } = await api.create(aFailure);
        if (status === 201) created.push({ id: body.task_id, sentMs, answeredMs: performance.now() });
        else if (status !== 429) throw new Error(`Answered ${status}`);
        else {
          left += 1; // the queue is full
          await sleep(100);
        }
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, nth) => services[nth % PROCESSES]!.baseUrl);
    await Promise.all(clients.map((baseUrl) => client(new Api(baseUrl, first.api.key!))));
    const query = <Row>(text: string) => queryOnce<Row>(first.database.url, text);
    await eventually('all to end', async () => (await query('select from tasks_live limit 1')).length === 0);
    const rows = await query<{ id: string; started_at: Date }>(
      `select id, started_at from tasks where attempt = 1 and coalesce(timeline::text, '') not like '%held%'`,
    );
    const startedMs = new Map(rows.map(({ id, started_at }) => [id, started_at.getTime()]));
    const started = created.flatMap((task) => {
      const ms = startedMs.get(task.id);
      return ms === undefined ? [] : [{ ...task, startedMs: ms }];
    });
    expect(started.length).toBeGreaterThan(0.9 * created.length);
    expect(overtaking(started)).toEqual([]);
  }, 3_600_000);
});
