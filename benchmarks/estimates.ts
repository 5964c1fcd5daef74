/**
 * What does `GET /v1/tasks/{id}/estimate` cost a process that is busy with other requests?
 *
 *     npm run build && npm run bench -- estimates [queued tasks, 100000] [seconds a round, 20] [rounds, 5]
 *
 * Two API processes (ROLE=api) share one database with so many queued tasks. Both serve the same reads of tasks at a
 * fixed rate. One of them also answers one estimate every half second, so that it reads the line of waiting tasks as
 * often as it ever does: every two seconds. `share` is the difference of their processor times over the time of the
 * round, in percent; the goal is less than 1 %. The processes change roles each round, so that what distinguishes them
 * cancels out. `noise` is the same figure for rounds in which neither process answers estimates.
 *
 * In the last row clients ask as fast as they can. It has the processor time of one estimate and of one read of a task,
 * in microseconds of the process and PostgreSQL together.
 */
import { loadavg } from 'node:os';
import pg from 'pg';
import { atRate } from './support/at-rate.ts';
import { brief } from './support/compare.ts';
import { load } from './support/load.ts';
import { addQueued } from './support/many-tasks.ts';
import { processorClock } from './support/processor-time.ts';
import { median, report } from './support/report.ts';
import { Bench } from './support/service.ts';

const QUEUED = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 20);
const ROUNDS = Number(process.argv[4] ?? 5);
const READS_PER_S = 100;
const ESTIMATES_PER_S = 2;
const CONNECTIONS = 16;

const loadBefore = loadavg()[0];
const bench = await Bench.open();
const headers = { authorization: `Bearer ${bench.apiKey}` };
const rows: Record<string, object> = {};
try {
  const apis = [await bench.service({ ROLE: 'api' }), await bench.service({ ROLE: 'api' })] as const;
  const ids = await queued();
  const path = (nth: number) => `/v1/tasks/${ids[nth % ids.length]}`;
  const read = async (url: string) => {
    const answer = await fetch(url, { headers });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  };
  const reads = (url: string) => atRate(READS_PER_S, READS_PER_S * SECONDS, (nth) => read(url + path(nth)));
  const estimates = (url: string) =>
    atRate(ESTIMATES_PER_S, ESTIMATES_PER_S * SECONDS, (nth) => read(`${url}${path(nth)}/estimate`));

  /** @returns percent of one processor that the first process needs more than the second */
  const difference = async (asked: string, other: string, withEstimates: boolean): Promise<number> => {
    const [used, usedByOther] = [processorClock(bench.pidOf(asked)), processorClock(bench.pidOf(other))];
    await Promise.all([reads(asked), reads(other), withEstimates && estimates(asked)]);
    return (used() - usedByOther()) / (10 * SECONDS);
  };
  await difference(...apis, true); // compiles the code of both
  await difference(apis[1], apis[0], true);
  const shares: number[] = [];
  const noise: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [asked, other] of [apis, apis.toReversed() as unknown as typeof apis]) {
      shares.push(await difference(asked, other, true));
      noise.push(await difference(asked, other, false));
    }
  }
  rows[`${ESTIMATES_PER_S} estimates a second, ${QUEUED.toLocaleString('en')} queued`] = {
    share_percent: brief(mean(shares)),
    median_percent: brief(median(shares)),
    highest_percent: brief(Math.max(...shares)),
    noise_percent: brief(mean(noise)),
  };

  const pids = [bench.pidOf(apis[0]), bench.databasePid];
  const asFastAsTheyCan = (url: string) => load({ url, headers, connections: CONNECTIONS, duration: 3 }, ...pids);
  const [estimate, task] = [`${apis[0]}${path(0)}/estimate`, apis[0] + path(0)];
  await asFastAsTheyCan(estimate);
  rows['one request, us of processor time'] = {
    estimate: brief((await asFastAsTheyCan(estimate)).work),
    task: brief((await asFastAsTheyCan(task)).work),
  };
} finally {
  await bench.close();
}
await report('estimates', rows, {
  seconds: SECONDS,
  rounds: ROUNDS,
  reads_per_s: READS_PER_S,
  load_before: loadBefore,
});

async function queued(): Promise<string[]> {
  const db = new pg.Client(bench.databaseUrl);
  await db.connect();
  const { rows: keys } = await db.query<{ id: string }>('select id from api_keys');
  const apiKeyId = keys[0]!.id;
  await addQueued(db, apiKeyId, QUEUED);
  await db.query('vacuum (analyze) tasks');
  const { rows: tasks } = await db.query<{ id: string }>(
    'select id from tasks where api_key_id = $1 order by random() limit 1000',
    [apiKeyId],
  );
  await db.end();
  return tasks.map(({ id }) => id);
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
