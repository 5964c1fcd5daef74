/**
 * How much does a second process add?
 *
 *     npm run bench -- scale [seconds a round, 2] [rounds, 5] [tasks of a backlog, 10000]
 *
 * API: one or two processes (ROLE=api) on one database, with 64 connections in total, split evenly. Workers: one or two
 * processes (ROLE=worker) whose provider answers at once. Their figure is tasks a second, by the database's own times.
 * Rounds alternate. The results are medians; the ratio is two / one.
 *
 * The backlog is committed at once, when the workers run already and have finished a smaller backlog. So neither the
 * start of a process nor its slow first steps are counted. Every round of workers has its own database.
 *
 * Processes, PostgreSQL and the client share one machine: with few cores, a second process has no core to run on.
 */
import type autocannon from 'autocannon';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { compare } from './support/compare.ts';
import { load } from './support/load.ts';
import { addQueued } from './support/many-tasks.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const SECONDS = Number(process.argv[2] ?? 2);
const ROUNDS = Number(process.argv[3] ?? 5);
const BACKLOG = Number(process.argv[4] ?? 10_000);
const CONNECTIONS = 64;
const INSTANT = new URL('support/instant-provider.ts', import.meta.url).href;

const rows: Record<string, object> = {};
const loadBefore = loadavg()[0];
await measureApis();
rows['workers, tasks'] = await compare(ROUNDS, ['two', () => drain(2)], ['one', () => drain(1)]);
await report('scale', rows, {
  seconds: SECONDS,
  rounds: ROUNDS,
  connections: CONNECTIONS,
  backlog: BACKLOG,
  load_before: loadBefore,
  note: `All on ${cpus().length} cores: the processes, PostgreSQL and the client share them.`,
});

async function measureApis(): Promise<void> {
  const bench = await Bench.open();
  try {
    const urls = [await bench.service({ ROLE: 'api' }), await bench.service({ ROLE: 'api' })];
    const headers = { authorization: `Bearer ${bench.apiKey}`, 'content-type': 'application/json' };
    const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };
    const body = JSON.stringify(generation);
    const made = await post<{ task_id: string }>(`${urls[0]}/v1/generations`, bench.apiKey, generation);

    const questions: [string, string, Partial<autocannon.Options>][] = [
      ['API, GET unfinished', `/v1/tasks/${made.task_id}`, { headers }],
      [
        'API, POST',
        '/v1/generations',
        { method: 'POST', headers: { ...headers, 'idempotency-key': '[<id>]' }, idReplacement: true, body },
      ],
    ];
    for (const [name, path, options] of questions) {
      const round = (count: number) => async () => {
        const connections = CONNECTIONS / count;
        const rates = urls
          .slice(0, count)
          .map((url) => load({ ...options, url: url + path, connections, duration: SECONDS }));
        return (await Promise.all(rates)).reduce((sum, { rate }) => sum + rate, 0);
      };
      rows[name] = await compare(ROUNDS, ['two', round(2)], ['one', round(1)]);
    }
  } finally {
    await bench.close();
  }
}

/** @returns tasks a second */
async function drain(workers: number): Promise<number> {
  const bench = await Bench.open();
  const db = new pg.Client(bench.databaseUrl);
  try {
    await db.connect();
    const settings = { ROLE: 'worker', NODE_OPTIONS: `--import ${INSTANT}` };
    await Promise.all(Array.from({ length: workers }, () => bench.service(settings)));
    await workOff(db, BACKLOG / 5);
    return await workOff(db, BACKLOG);
  } finally {
    await db.end();
    await bench.close();
  }
}

async function workOff(db: pg.Client, tasks: number): Promise<number> {
  const [{ now } = { now: new Date() }] = (await db.query<{ now: Date }>('select now()')).rows;
  await addQueued(db, 'key_bench', tasks);
  const left = async () =>
    (await db.query<{ tasks: number }>('select sum(queued + running)::int as tasks from key_load')).rows[0]?.tasks;
  while ((await left()) !== 0) await sleep(100);
  const { rows: worked } = await db.query<{ tasks: number; seconds: number }>(
    `select count(*)::int as tasks, extract(epoch from max(completed_at) - min(started_at))::float8 as seconds
     from tasks where started_at > $1 and status = 'succeeded'`,
    [now],
  );
  if (worked[0]?.tasks !== tasks) throw new Error(`${worked[0]?.tasks} of ${tasks} tasks succeeded.`);
  return tasks / worked[0].seconds;
}
