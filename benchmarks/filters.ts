/**
 * How long does a page of a list take, for each filter, among millions of tasks?
 *
 *     npm run build && npm run bench -- filters [finished tasks, 5000000] [rounds, 7] [part of a question's name] [queued tasks, 400]
 *
 * One API process (ROLE=api) answers one request at a time, with a page of 20 tasks. Half of the tasks belong to the
 * key that asks. Each filter is asked with a value that many tasks have and with one that few or none have, because
 * with the second the read cannot stop early. The times are medians in ms; `slowest` is the slowest round, and `work`
 * the processor time of the process and PostgreSQL together. A question that took a second is not repeated. Half of the
 * queued tasks belong to the key too, and each read compares all of those with the filter. Words are looked for twice:
 * before and after a worker has indexed them. A row has the size of the table of words with its index, and the seconds
 * that indexing took.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { brief } from './support/compare.ts';
import { addFinished, addQueued } from './support/many-tasks.ts';
import { processorClock } from './support/processor-time.ts';
import { median, report } from './support/report.ts';
import { Bench } from './support/service.ts';

const TASKS = Number(process.argv[2] ?? 5_000_000);
const ROUNDS = Number(process.argv[3] ?? 7);
const WANTED = process.argv[4] ?? '';
const QUEUED = Number(process.argv[5] ?? 400);
const DAY_S = 86_400;
const LONG_MS = 1_000;

const now = Math.floor(Date.now() / 1000);
const QUESTIONS: Record<string, string> = {
  'no filter': '',
  'no filter, oldest first': 'order=asc',
  'status=succeeded': 'status=succeeded',
  'status=queued': 'status=queued',
  'statuses=queued,running': 'statuses=queued,running',
  'error_code, each 17th task': 'error_code=provider_rejected',
  'error_code that no task has': 'error_code=worker_lost',
  'kind=video, each fifth task': 'kind=video',
  'model of each fifth task': 'model=sora-2',
  'model that no task has': 'model=seedance-2',
  'source of all tasks': 'source=api',
  'source that no task has': 'source=mcp',
  'kind and source that no task has': 'kind=video&source=mcp',
  'batch_id that no task has': 'batch_id=batch_01k0000000e000000000000000',
  'parent_task_id that no task has': 'parent_task_id=task_01k0000000e000000000000000',
  'metadata of each third task': 'metadata[shop]=north',
  'metadata of one task': `metadata[order]=${Math.floor(TASKS / 12) * 6}`,
  'metadata that no task has': 'metadata[order]=none',
  'a day, ten days ago': `created_after=${now - 11 * DAY_S}&created_before=${now - 10 * DAY_S}`,
  'a day, ten days ago, oldest first': `created_after=${now - 11 * DAY_S}&created_before=${now - 10 * DAY_S}&order=asc`,
  'a day and a model that no task has': `created_after=${now - 11 * DAY_S}&created_before=${now - 10 * DAY_S}&model=seedance-2`,
  'words of all tasks': 'search=lighthouse%20dusk',
  'a word of few tasks': `search=${Math.floor(TASKS / 2)},`,
  'a word and a model that no task has together': 'search=lighthouse&model=seedance-2',
  'a word that no task has': 'search=submarine',
  'a word that no task has and a kind of most': 'search=submarine&kind=image',
  'a word that no task has and metadata of each third task': 'search=submarine&metadata[shop]=north',
  'a word of few tasks, oldest first': `search=${Math.floor(TASKS / 2)},&order=asc`,
};

/** Indexes the words, as a worker does. @returns the seconds it took, and the size of the table and index */
async function indexWords(db: pg.Client, url: string): Promise<object> {
  const startedAt = performance.now();
  await bench.service({ ROLE: 'worker', PUBLIC_URL: url });
  for (;;) {
    const { rows } = await db.query<{ is_done: boolean }>(
      `select to_regclass('task_words_gin') is not null and through >= (select max(completed_at) from tasks_done) as is_done
       from words_state`,
    );
    if (rows[0]?.is_done) break;
    await sleep(250);
  }
  const seconds = brief((performance.now() - startedAt) / 1000);
  const { rows } = await db.query(
    `select pg_total_relation_size('task_words') / 1e6 as mb, pg_relation_size('task_words_gin') / 1e6 as index_mb`,
  );
  return { ...rows[0], seconds };
}

const rows: Record<string, object> = {};
const bench = await Bench.open();

async function ask(url: string, questions: [name: string, query: string][], when = ''): Promise<void> {
  const headers = { authorization: `Bearer ${bench.apiKey}` };
  for (const [name, query] of questions) {
    const used = processorClock(bench.pidOf(url), bench.databasePid);
    const times: number[] = [];
    let found = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedAt = performance.now();
      const response = await fetch(`${url}/v1/tasks?limit=20&${query}`, { headers });
      const page = (await response.json()) as { data?: unknown[] };
      times.push(performance.now() - startedAt);
      found = page.data?.length ?? response.status;
      if (times[0]! > LONG_MS) break;
    }
    const row = {
      found,
      ms: brief(median(times)),
      slowest: brief(Math.max(...times)),
      work: brief(used() / times.length),
    };
    rows[name + when] = row;
    console.log(name + when, row);
  }
}

try {
  let url = await bench.service({ ROLE: 'api' });
  const db = new pg.Client(bench.databaseUrl);
  await db.connect();
  const { rows: keys } = await db.query<{ id: string }>('select id from api_keys');
  await addFinished(db, keys[0]!.id, TASKS);
  await addQueued(db, keys[0]!.id, QUEUED);
  await db.query('vacuum (analyze) tasks_live, tasks_done');
  const questions = Object.entries(QUESTIONS).filter(([name]) => name.includes(WANTED));
  const searches = questions.filter(([, query]) => query.includes('search='));
  if (searches.length > 0) {
    await ask(url, searches, ', no index');
    rows['index of words'] = await indexWords(db, url);
    console.log('index of words', rows['index of words']);
    url = await bench.service({ ROLE: 'api' }); // the new process has not read yet which indexes there are
  }
  await db.end();
  await ask(url, questions);
} finally {
  await bench.close();
}
await report('filters', rows, { tasks: TASKS, queued: QUEUED, rounds: ROUNDS });
