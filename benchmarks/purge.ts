/**
 * How long does one worker take to delete expired tasks with their files?
 *
 *     npm run bench -- purge [tasks, 100000] [bytes a file, 2000]
 *
 * Every task succeeded, has one file, and is past both retentions. The time runs from the start of the worker process to the
 * last row; at the end no file may be left. Beside the purge the worker does nothing.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const TASKS = Number(process.argv[2] ?? 100_000);
const BYTES = Number(process.argv[3] ?? 2_000);
const CHUNK = 10_000;
const FILES_AT_ONCE = 64;

const INSERT = `
  insert into tasks_done (
    id, api_key_id, kind, model, status, progress, sequence, input, created_at, started_at, completed_at, deadline_at, expires_at,
    attempt, provider, result, files_expire_at)
  select id, 'key_of_nobody', 'image', 'gpt-image-2', 'succeeded', 100, 6, '{"prompt":"A lighthouse at dusk"}',
         now() - interval '31 days', now() - interval '31 days', now() - interval '31 days', now() - interval '31 days',
         now() - interval '1 day', 1, 'sandbox',
         json_build_array(json_build_object('id', 'file_' || substr(id, 6) || '_0', 'index', 0, 'type', 'image',
           'storage_key', id || '/1-0', 'content_type', 'image/png', 'size_bytes', $2::int, 'width', 64, 'height', 64, 'sha256', '')),
         now() - interval '24 days'
  from unnest($1::text[]) as id`;

const bench = await Bench.open();
try {
  await bench.service({ ROLE: 'api' }); // migrates
  const db = new pg.Client(bench.databaseUrl);
  await db.connect();
  const root = join(bench.dataDir, 'files');
  const bytes = Buffer.alloc(BYTES, 1);
  for (let from = 0; from < TASKS; from += CHUNK) {
    const ids = Array.from(
      { length: Math.min(CHUNK, TASKS - from) },
      (_, at) => `task_${String(from + at).padStart(26, '0')}`,
    );
    await db.query(INSERT, [ids, BYTES]);
    const waiting = [...ids];
    const writeNext = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        await mkdir(join(root, id), { recursive: true });
        await writeFile(join(root, id, '1-0'), bytes);
      }
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, writeNext));
  }
  await db.query('analyze tasks_done');
  const load = loadavg()[0];

  const startedAt = performance.now();
  await bench.service({ ROLE: 'worker', PUBLIC_URL: 'http://127.0.0.1' });
  const startMs = performance.now() - startedAt;
  for (;;) {
    const { rows } = await db.query<{ n: number }>('select count(*)::int as n from tasks');
    if (rows[0]?.n === 0) break;
    await sleep(250);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const left = (await readdir(root)).filter((name) => name.startsWith('task_')).length;
  await db.end();
  const row = {
    seconds: Math.round(seconds * 10) / 10,
    'of which start': Math.round(startMs / 100) / 10,
    'tasks a second': Math.round(TASKS / seconds),
    'files left': left,
  };
  await report('purge', { [`${TASKS} tasks`]: row }, { 'bytes a file': BYTES, 'load before': load?.toFixed(1) });
} finally {
  await bench.close();
}
