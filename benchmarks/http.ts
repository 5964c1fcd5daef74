/**
 * How many requests a second against bare Fastify and pg (benchmarks/baseline/), in the same run and alternating?
 *
 *     npm run bench -- http [seconds a round, 2] [rounds, 5]
 *
 * One API process (ROLE=api) of the real program: API key, validation, a place in the queue in the same commit, and in a row of
 * its own an Idempotency-Key as well. The finished task has a picture, whose link is signed at each read. Medians; the ratio is
 * service / baseline, above 1 is faster.
 */
import autocannon from 'autocannon';
import pg from 'pg';
import { median, report, round2 } from './support/report.ts';
import { Bench } from './support/service.ts';

const SECONDS = Number(process.argv[2] ?? 2);
const ROUNDS = Number(process.argv[3] ?? 5);
const CONNECTIONS = [1, 16, 64, 256];

const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  const [service, baseline] = [await bench.service({ ROLE: 'api' }), await bench.baseline()];
  const auth = { authorization: `Bearer ${bench.apiKey}` };
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } });

  const make = async (url: string, headers: object) => {
    const reply = await fetch(url, { method: 'POST', headers: { ...json, ...headers }, body });
    return ((await reply.json()) as { task_id: string }).task_id;
  };
  const ours = await make(`${service}/v1/generations`, auth);
  const ended = await make(`${service}/v1/generations`, auth);
  await finish(ended);
  const theirs = await make(`${baseline}/tasks`, {});

  const questions: [string, autocannon.Options, autocannon.Options][] = [
    ['GET unfinished', { url: `${service}/v1/tasks/${ours}`, headers: auth }, { url: `${baseline}/tasks/${theirs}` }],
    ['GET finished', { url: `${service}/v1/tasks/${ended}`, headers: auth }, { url: `${baseline}/tasks/${theirs}` }],
    [
      'POST',
      {
        url: `${service}/v1/generations`,
        method: 'POST',
        headers: { ...auth, ...json },
        body,
      },
      { url: `${baseline}/tasks`, method: 'POST', headers: json, body },
    ],
    [
      'POST with Idempotency-Key',
      {
        url: `${service}/v1/generations`,
        method: 'POST',
        headers: { ...auth, ...json, 'idempotency-key': '[<id>]' },
        idReplacement: true,
        body,
      },
      { url: `${baseline}/tasks`, method: 'POST', headers: json, body },
    ],
    ['list', { url: `${service}/v1/tasks`, headers: auth }, { url: `${baseline}/tasks` }],
  ];

  for (const [name, mine, bare] of questions) {
    for (const connections of CONNECTIONS) {
      const [ratios, mineRates, bareRates, mineMs, bareMs] = [[], [], [], [], []] as number[][] as [
        number[], number[], number[], number[], number[],
      ]; // prettier-ignore
      for (let round = 0; round < ROUNDS; round += 1) {
        const b = await load(bare, connections);
        const s = await load(mine, connections);
        ratios.push(s.rate / b.rate);
        mineRates.push(s.rate);
        bareRates.push(b.rate);
        mineMs.push(s.ms);
        bareMs.push(b.ms);
      }
      rows[`${name}, ${connections}`] = {
        ratio: round2(median(ratios)),
        service: Math.round(median(mineRates)),
        baseline: Math.round(median(bareRates)),
        service_p50_ms: round2(median(mineMs)),
        baseline_p50_ms: round2(median(bareMs)),
      };
    }
  }
} finally {
  await bench.close();
}
await report('http', rows, { seconds: SECONDS, rounds: ROUNDS });

async function load(options: autocannon.Options, connections: number): Promise<{ rate: number; ms: number }> {
  const result = await autocannon({ ...options, connections, duration: SECONDS });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} broken`);
  return { rate: result.requests.average, ms: result.latency.p50 };
}

/** As a worker would leave it. */
async function finish(taskId: string): Promise<void> {
  const client = new pg.Client({ connectionString: bench.databaseUrl });
  await client.connect();
  const output = {
    id: `${taskId.replace('task_', 'file_')}_0`,
    index: 0,
    type: 'image',
    storage_key: `${taskId}/1-0.png`,
    content_type: 'image/png',
    size_bytes: 123_456,
    width: 1024,
    height: 1024,
    sha256: 'ab'.repeat(32),
  };
  await client.query(
    `update tasks set status = 'succeeded', progress = 100, sequence = 3, started_at = now(), completed_at = now(), result = $2,
            files_expire_at = now() + interval '7 days' where id = $1`,
    [taskId, JSON.stringify([output])],
  );
  await client.end();
}
