/**
 * How many requests a second, compared with bare Fastify and pg (benchmarks/baseline/), alternating in the same run?
 *
 *     npm run bench -- http [seconds a round, 2] [rounds, 5]
 *
 * One API process (ROLE=api) of the real program: API key, validation, the queue entry in the same commit, and in a separate row
 * an Idempotency-Key as well. The finished task has an image, whose link is signed at each read. The results are medians; the
 * ratio is service / baseline, and above 1 is faster. `work` is the processor time of a request, of the process and of
 * PostgreSQL, in microseconds; its ratio is baseline / service. Other work of the machine affects `work` least.
 */
import type autocannon from 'autocannon';
import pg from 'pg';
import { compare } from './support/compare.ts';
import { load } from './support/load.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
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
  const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };
  const body = JSON.stringify(generation);

  const make = async (url: string, key: string | null) =>
    (await post<{ task_id: string }>(url, key, generation)).task_id;
  const ours = await make(`${service}/v1/generations`, bench.apiKey);
  const ended = await make(`${service}/v1/generations`, bench.apiKey);
  await finish(ended);
  const theirs = await make(`${baseline}/tasks`, null);

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
      // The baseline ignores the key, but the client does the same work.
      {
        url: `${baseline}/tasks`,
        method: 'POST',
        headers: { ...json, 'idempotency-key': '[<id>]' },
        idReplacement: true,
        body,
      },
    ],
    ['list', { url: `${service}/v1/tasks`, headers: auth }, { url: `${baseline}/tasks` }],
  ];

  for (const [name, mine, bare] of questions) {
    for (const connections of CONNECTIONS) {
      const round = (url: string, options: autocannon.Options) => () =>
        load({ ...options, connections, duration: SECONDS }, bench.pidOf(url), bench.databasePid);
      rows[`${name}, ${connections}`] = await compare(
        ROUNDS,
        ['service', round(service, mine)],
        ['baseline', round(baseline, bare)],
      );
    }
  }
} finally {
  await bench.close();
}
await report('http', rows, { seconds: SECONDS, rounds: ROUNDS });

/** Ends the task as a worker would. */
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
