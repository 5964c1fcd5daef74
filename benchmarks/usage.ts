/**
 * How long does a question about usage take over millions of tasks?
 *
 *     npm run build && npm run bench -- usage [rows of the ledger, 5000000] [rounds, 9]
 *
 * The ledger holds the tasks of 400 days, of ten API keys, five models and three providers. The service's own statement
 * rolls it up. Each question runs through the service's own class, as `GET /v1/usage` asks it. It alternates with the
 * naive statement over the ledger: a `group by` of the time truncated in the time zone, with an index on key and time.
 * Times are medians in ms. `work` is the processor time of this process and of the connection, which other work on the
 * machine affects least. The two answers are compared, and a difference ends the benchmark.
 */
import pg from 'pg';
import { brief } from './support/compare.ts';
import { processorClock } from './support/processor-time.ts';
import { median, report } from './support/report.ts';
import { Bench } from './support/service.ts';

const built = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href);

const ROWS = Number(process.argv[2] ?? 5_000_000);
const ROUNDS = Number(process.argv[3] ?? 9);
const DAYS = 400;
const CHUNK = 250_000;
const KEY = 'key_0';

const FILL = `
  insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, provider, resolution, source, metadata, images,
                            video_seconds, submits, cost_micros, basis)
  select 'task_' || lpad(n::text, 26, '0'), 'key_' || n % 10, now() - (n + 1) * $3::float8 * interval '1 s',
         case when n % 17 = 3 then 'failed' else 'succeeded' end, 'image', 'model-' || n % 5, 'provider-' || n % 3, '2K', 'api',
         case when n % 4 = 0 then jsonb_build_object('team', 'team-' || n % 8) end, 1, 0, 1, 1000 + n % 1000,
         case when n % 17 = 3 then 'assumed' else 'priced' end
  from generate_series($1::int, $2::int) n`;

interface Question {
  name: string;
  timezone: string;
  width: '1d' | '1M' | 'all';
  days: number;
  /** Columns of `group_by`. */
  groups: string[];
  everyKey?: boolean;
}

const QUESTIONS: Question[] = [
  { name: 'a key, 31 days by day, UTC', timezone: 'UTC', width: '1d', days: 31, groups: [] },
  { name: 'a key, 400 days by day, UTC', timezone: 'UTC', width: '1d', days: 399, groups: [] },
  { name: 'a key, 400 days by month, Asia/Kathmandu', timezone: 'Asia/Kathmandu', width: '1M', days: 399, groups: [] },
  { name: 'the same, by model', timezone: 'Asia/Kathmandu', width: '1M', days: 399, groups: ['model'] },
  { name: 'a key, 400 days by day, Europe/Berlin', timezone: 'Europe/Berlin', width: '1d', days: 399, groups: [] },
  {
    name: 'all keys, 31 days by day and key, America/New_York',
    timezone: 'America/New_York',
    width: '1d',
    days: 31,
    groups: ['api_key_id'],
    everyKey: true,
  },
  {
    name: 'all keys, 400 days by month, Asia/Kathmandu',
    timezone: 'Asia/Kathmandu',
    width: '1M',
    days: 399,
    groups: [],
    everyKey: true,
  },
];

const NAIVE = ({ groups, width, everyKey }: Question) => `
  select ${width === 'all' ? '0' : `date_trunc('${width === '1d' ? 'day' : 'month'}', completed_at, $1)`} as bucket
         ${groups.map((name) => `, ${name}`).join('')}, count(*)::int as tasks, sum(cost_micros)::float8 as cost_micros,
         sum(images)::int as images, count(*) filter (where outcome = 'succeeded')::int as succeeded
  from usage_ledger
  where completed_at >= to_timestamp($2) and completed_at < to_timestamp($3) ${everyKey ? '' : `and api_key_id = '${KEY}'`}
  group by 1${groups.map((name) => `, ${name}`).join('')} order by 1`;

/** Both in milliseconds. */
interface Timed {
  ms: number;
  work: number;
}

interface Totals {
  tasks: number;
  cost_micros: number;
}

const [{ ReadUsage }, { RollUp }, { UsageService }, { Sql }, { migrate }] = await Promise.all(
  [
    'usage/sql/read-usage',
    'usage/sql/roll-up',
    'usage/usage.service',
    'platform/database/sql',
    'platform/database/migrate',
  ].map((path) => built(`${path}.js`)),
);
const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  await migrate(bench.databaseUrl);
  const { SESSION_SETTINGS } = await built('platform/database/data-source.js');
  const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: 2, ...SESSION_SETTINGS, statement_timeout: 0 });
  const naive = new pg.Client(bench.databaseUrl);
  await naive.connect();
  const sql = new Sql({ driver: { master: pool } });
  const service = new UsageService(new ReadUsage(sql), { currency: 'USD', revealProviders: true });

  for (let first = 0; first < ROWS; first += CHUNK) {
    await naive.query(FILL, [first, Math.min(first + CHUNK, ROWS) - 1, (DAYS * 86_400) / ROWS]);
  }
  await naive.query('analyze usage_ledger');
  const begunMs = performance.now();
  const rollUp = new RollUp(sql);
  while ((await rollUp.next()) > 0) if (Math.random() < 0.02) await naive.query('vacuum usage_ledger, usage_sums');
  const rollUpUs = ((performance.now() - begunMs) * 1000) / ROWS;
  await naive.query('create index naive on usage_ledger (api_key_id, completed_at)');
  await naive.query('vacuum analyze usage_ledger, usage_sums');
  const { rows: counted } = await naive.query('select count(*)::int as sums from usage_sums');

  for (const question of QUESTIONS) {
    const end = Math.floor(Date.now() / 1000);
    const start = end - question.days * 86_400;
    const page = () =>
      service.page(KEY, {
        start_time: start,
        end_time: end,
        bucket_width: question.width,
        timezone: question.timezone,
        limit: 400,
        ...(question.groups.length > 0 && { group_by: question.groups.join(',') }),
        ...(question.everyKey && { api_key_id: 'all' }),
      }) as Promise<{ totals: Totals }>;
    const times: [Timed, Timed][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [ours, theirs] = [
        await timed(page),
        await timed(async () => (await naive.query(NAIVE(question), [question.timezone, start, end])).rows as Totals[]),
      ];
      times.push([ours, theirs]);
      const { totals } = ours.result;
      const naiveTotals = (of: keyof Totals) => theirs.result.reduce((sum, row) => sum + row[of], 0);
      if (totals.tasks !== naiveTotals('tasks') || totals.cost_micros !== naiveTotals('cost_micros'))
        throw new Error(`${question.name}: the answers differ.`);
    }
    rows[question.name] = {
      ms: brief(median(times.map(([ours]) => ours.ms))),
      work: brief(median(times.map(([ours]) => ours.work))),
      naive_ms: brief(median(times.map(([, theirs]) => theirs.ms))),
      naive_work: brief(median(times.map(([, theirs]) => theirs.work))),
    };
  }
  await naive.end();
  await pool.end();
  await report('usage', rows, {
    ledger_rows: ROWS,
    sums: counted[0].sums,
    roll_up_us_per_row: brief(rollUpUs),
    rounds: ROUNDS,
  });
} finally {
  await bench.close();
}

async function timed<Result>(work: () => Promise<Result>): Promise<Timed & { result: Result }> {
  const clock = processorClock(process.pid, bench.databasePid);
  const begunMs = performance.now();
  const result = await work();
  return { ms: performance.now() - begunMs, work: clock(), result };
}
