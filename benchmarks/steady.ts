/**
 * Does the queue stay small, and is no task lost or done twice, at a steady rate?
 *
 *     npm run bench -- steady [seconds, 600] [tasks a second, 1000]
 *
 * One process with ROLE=all whose provider answers at once. Afterwards every task that was answered with 201 must have
 * succeeded at its first attempt. The size of `tasks_live`, with its indexes, is read every 5 seconds.
 */
import autocannon from 'autocannon';
import { loadavg } from 'node:os';
import { Client } from 'pg';
import { report, round2 } from './support/report.ts';
import { Bench } from './support/service.ts';

const SECONDS = Number(process.argv[2] ?? 600);
const RATE = Number(process.argv[3] ?? 1_000);
const CONNECTIONS = 50;
const SAMPLE_MS = 5_000;
const BODY = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk' });
const INSTANT = new URL('support/instant-provider.ts', import.meta.url).href;
const MIB = 2 ** 20;

const loadBefore = loadavg()[0];
const bench = await Bench.open();
const database = new Client({ connectionString: bench.databaseUrl });
const one = async <Row>(statement: string): Promise<Row> => (await database.query(statement)).rows[0] as Row;
const sizes: number[] = [];
const unfinished: number[] = [];
const sample = async () => {
  const { size, tasks } = await one<{ size: number; tasks: number }>(
    `select pg_total_relation_size('tasks_live')::float8 as size, (select count(*)::int from tasks_live) as tasks`,
  );
  sizes.push(size / MIB);
  unfinished.push(tasks);
};
try {
  const url = await bench.service({ NODE_OPTIONS: `--import ${INSTANT}` });
  await database.connect();
  const samples = setInterval(() => void sample(), SAMPLE_MS);
  const { latency, duration, errors, non2xx, ...load } = await autocannon({
    url: `${url}/v1/generations`,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bench.apiKey}` },
    body: BODY,
    connections: CONNECTIONS,
    overallRate: RATE,
    duration: SECONDS,
  });
  clearInterval(samples);
  for (await sample(); unfinished.at(-1) !== 0; await sample()) await new Promise((again) => setTimeout(again, 100));
  const { stored, succeeded, twice } = await one<{ stored: number; succeeded: number; twice: number }>(
    `select count(*)::int as stored, count(*) filter (where status = 'succeeded')::int as succeeded,
            count(*) filter (where attempt > 1)::int as twice
       from tasks`,
  );
  const answered = load['2xx'];
  // A request that the end of the load cuts off may have made a task that nobody was told of.
  if (succeeded !== stored || stored < answered || stored > answered + CONNECTIONS || twice + errors + non2xx > 0)
    throw new Error(JSON.stringify({ answered, stored, succeeded, twice, errors, non2xx }));
  await report(
    'steady',
    {
      steady: {
        tasks: stored,
        tasks_per_second: Math.round(answered / duration),
        answer_p50_ms: latency.p50,
        answer_p99_ms: latency.p99,
        largest_queue_mib: round2(Math.max(...sizes)),
        most_unfinished: Math.max(...unfinished),
      },
    },
    { seconds: SECONDS, rate: RATE, load_before: loadBefore },
  );
} finally {
  await database.end();
  await bench.close();
}
