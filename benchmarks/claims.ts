/**
 * What does a claim cost when one API key has a long backlog?
 *
 *     npm run build && npm run bench -- claims [queued tasks of the backlog, 100000] [rounds, 7]
 *
 * The service's own statements on one connection, without a service. The figures are medians of PostgreSQL's processor
 * time in microseconds for one task, in claims of 1, 8 and 32 tasks. The short line has as many tasks as a round takes.
 * `reserved places` are claims for other keys than that of the backlog. Such a claim finds no task, so its figure is
 * the time of one claim.
 */
import pg from 'pg';
import { brief } from './support/compare.ts';
import { addQueued } from './support/many-tasks.ts';
import { processorClock } from './support/processor-time.ts';
import { median, report } from './support/report.ts';
import { Bench } from './support/service.ts';

const built = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href);
const BACKLOG = Number(process.argv[2] ?? 100_000);
const ROUNDS = Number(process.argv[3] ?? 7);
const CLAIMS = 100;
const KEY = 'key_busy';

const [{ ClaimTasks }, { migrate }, { SESSION_SETTINGS }] = await Promise.all([
  built('tasks/sql/claim-tasks.js'),
  built('platform/database/migrate.js'),
  built('platform/database/data-source.js'),
]);
const bench = await Bench.open();
const connect = async () => {
  const client = new pg.Client({ connectionString: bench.databaseUrl, ...SESSION_SETTINGS });
  await client.connect();
  return client;
};

/**
 * One round, on a connection that has planned its statements.
 * @returns microseconds for one task; for one claim if `exceptKeys` is given
 */
async function round(db: pg.Client, queued: number, limit: number, exceptKeys: string[] | null): Promise<number> {
  await db.query('truncate tasks_live');
  await addQueued(db, KEY, 2 * queued); // every second one is of another key
  await db.query(`delete from tasks_live where api_key_id <> '${KEY}'`);
  await db.query('vacuum (analyze) tasks_live, key_load');
  const worker = await connect();
  try {
    const sql = {
      run: async (statement: pg.QueryConfig, values: unknown[]) => (await worker.query({ ...statement, values })).rows,
    };
    const claims = new ClaimTasks(sql, { lowPriorityShare: 10, taskLeaseS: 30, taskMaxAttempts: 3 });
    let claimed = 0;
    const claim = async () => (claimed += (await claims.claim(limit, Date.now(), [], exceptKeys)).tasks.length);
    await claim();
    claimed = 0;
    const { rows } = await worker.query<{ pid: number }>('select pg_backend_pid() as pid');
    const used = processorClock(rows[0]!.pid);
    for (let nth = 0; nth < CLAIMS; nth += 1) await claim();
    const us = 1000 * used();
    if (claimed !== (exceptKeys ? 0 : CLAIMS * limit)) throw new Error(`${claimed} tasks were claimed.`);
    return us / (exceptKeys ? CLAIMS : claimed);
  } finally {
    await worker.end();
  }
}

const rows: Record<string, object> = {};
try {
  await migrate(bench.databaseUrl);
  const db = await connect();
  await db.query('set statement_timeout = 0');
  for (const limit of [1, 8, 32]) {
    for (const exceptKeys of limit === 8 ? [null, [KEY]] : [null]) {
      const [short, long]: [number[], number[]] = [[], []];
      for (let nth = 0; nth < ROUNDS; nth += 1) {
        short.push(await round(db, (CLAIMS + 1) * limit, limit, exceptKeys));
        long.push(await round(db, BACKLOG, limit, exceptKeys));
      }
      const ratio = brief(median(short) / median(long));
      const name = exceptKeys ? `reserved places, claim of ${limit}` : `claim of ${limit}`;
      rows[name] = { short_us: brief(median(short)), backlog_us: brief(median(long)), ratio };
      console.log(name, rows[name]);
    }
  }
  await db.end();
} finally {
  await bench.close();
}
await report('claims', rows, { backlog: BACKLOG, rounds: ROUNDS, claims: CLAIMS });
