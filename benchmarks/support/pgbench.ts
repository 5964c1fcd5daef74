import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { Bench } from './service.ts';

const built = (path: string) => import(new URL(`../../dist/${path}`, import.meta.url).href);

/** Captures the statement that a function of `sql/` sends. */
async function statementOf(send: (sql: object) => Promise<unknown>): Promise<string> {
  let captured = '';
  const run = async ({ text }: { text: string }) => {
    captured = text;
    return [];
  };
  await send({ run, transaction: (work: (tx: object) => unknown) => work({ query: run }) }).catch(() => undefined);
  return captured;
}

/** SQL expressions for the columns of a new task, by name. */
const ONE_TASK: Record<string, string> = {
  key: '1',
  nth: '1',
  id: "'task_' || lpad(:nth::text, 26, '0')",
  kind: "'image'",
  model: "'gpt-image-2'",
  input: `'{"prompt":"A lighthouse at dusk"}'::json`,
  metadata: `'{"order":"42"}'::jsonb`,
  created_at: 'extract(epoch from now()) * 1000',
  expires_at: "extract(epoch from now() + interval '30 days') * 1000",
  deadline_s: '600',
};
const ITS_KEY = `'[{"key":1,"api_key_id":"key_pgbench","tasks":1,"ends":[1000],"low_ends":[0],"max_queued":0,"max_running":0}]'`;
const ONE_END = `json_build_array(json_build_object('id', :t_id::text, 'attempt', nullif(:t_attempt::text, '')::int, 'outcome', 'succeeded',
  'result', '[{"index":0,"type":"image","content_type":"image/png","size_bytes":100}]'::json,
  'images', 1, 'video_seconds', 0, 'micros', 0, 'basis', 'free'))`;

/**
 * Runs the service's own statements (create, claim, end) with pgbench. Each statement has one task and its own commit.
 * The statement that updates the counters of the key at the end is left out.
 * @returns tasks a second; null if pgbench is not installed (Debian: postgresql)
 */
export async function tasksPerSecond(clients: number, seconds: number): Promise<number | null> {
  const [{ CreateTasks }, { ClaimTasks }, { EndTasks }] = await Promise.all([
    built('tasks/sql/create-tasks.js'),
    built('tasks/sql/claim-tasks.js'),
    built('tasks/sql/end-tasks.js'),
  ]);
  const create = await statementOf(async (sql) => {
    const createTasks = new CreateTasks(sql, { open: async () => undefined });
    await createTasks.create({ api_key_id: 'key_pgbench', limits: {} });
  });
  const claim = await statementOf((sql) => new ClaimTasks(sql, { lowPriorityShare: 0 }).claim(1, Date.now(), [], null));
  const end = await statementOf((sql) =>
    new EndTasks(sql, {}, { currency: 'USD' }).end({
      id: '',
      attempt: 1,
      outcome: { status: 'succeeded', result: [] },
    }),
  );

  const bench = await Bench.open();
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-pgbench-'));
  try {
    await (await built('platform/database/migrate.js')).migrate(bench.databaseUrl);
    await query(bench.databaseUrl, `insert into key_load (api_key_id) values ('key_pgbench')`);
    const task = Object.entries(ONE_TASK).map(([name, value]) => `'${name}', ${value}`);
    const script = join(folder, 'task.sql');
    await writeFile(
      script,
      [
        '\\set nth random(1, 1000000000000000)',
        `${withValues(create, [ITS_KEY, "'1200ms'", `json_build_array(json_build_object(${task.join(', ')}))`])};`,
        `${withValues(claim, ['1', "'pgbench'", '30', '3', 'true', "'{}'", '0', '0', '0', 'false'])} \\gset t_`,
        `${withValues(end, [ONE_END, '604800', "'1200ms'", "'USD'", 'array[:t_id::text]'])};`,
        '',
      ].join('\n'),
    );
    const options = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-T', String(seconds), '-f', script];
    await promisify(execFile)('pgbench', [...options, bench.databaseUrl]);
    // Counted by the rows, because pgbench counts a transaction even if its statements found nothing.
    const [row] = await query(bench.databaseUrl, `select count(*)::int as ended from tasks where status = 'succeeded'`);
    return (row?.ended ?? 0) / seconds;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
    await bench.close();
  }
}

async function query(connectionString: string, text: string): Promise<{ ended?: number }[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<{ ended?: number }>(text)).rows;
  } finally {
    await client.end();
  }
}

const withValues = (text: string, values: string[]): string =>
  values.reduceRight((filled, value, at) => filled.replaceAll(`$${at + 1}`, () => value), text);
