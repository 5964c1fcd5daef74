/**
 * Does the service become slower as the number of tasks grows?
 *
 *     npm run bench -- growth [finished tasks of the largest step, 5000000] [seconds a round, 2] [rounds, 5]
 *
 * Two databases with one API process (ROLE=api) each. One keeps 1,000 finished tasks. The other grows: 1,000 (which
 * shows how much of a ratio is noise), 100,000, the largest step, and the largest step plus 100,000 queued tasks. Half
 * of all tasks belong to the API key of the requests. The processes and their prepared statements stay the same
 * throughout. Rounds alternate. The results are medians; the ratio is large / small in requests a second at 64
 * connections, and below 1 the large one is slower. `work` is the processor time of one request in microseconds, of the
 * process and PostgreSQL together. Its ratio is small / large, and below 1 the large one needs more work.
 *
 * "GET finished" requests one task again and again, "any" up to 100,000 tasks in turn. A process caches fewer than
 * 100,000 tasks. So the database answers on the large side, and memory answers on the side with 1,000 tasks.
 *
 * Each finished task has its row in the ledger, and the benchmark stops if a row is missing. The ledger matters to the
 * last question only, because there tasks end.
 *
 * At the end both sides get a worker whose provider answers at once. An API key without tasks then creates one task at
 * a time. The figure is tasks a second, from POST to the end of the task.
 */
import type autocannon from 'autocannon';
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { promisify } from 'node:util';
import pg from 'pg';
import { compare } from './support/compare.ts';
import { type Load, load } from './support/load.ts';
import { addFinished, addQueued, countQueued } from './support/many-tasks.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const LARGEST = Number(process.argv[2] ?? 5_000_000);
const SECONDS = Number(process.argv[3] ?? 2);
const ROUNDS = Number(process.argv[4] ?? 5);
const SMALL = 1_000;
const QUEUED = 100_000;
const CONNECTIONS = 64;
/** Many times what a process caches (src/tasks/acts/tasks.service.ts). */
const ANY = 100_000;
const STRANGERS = 30;
const INSTANT = new URL('support/instant-provider.ts', import.meta.url).href;

const json = { 'content-type': 'application/json' };
const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };

/** A database that this benchmark fills, and the service that runs on it. */
class Side {
  private finished: string[] = [];
  private readonly unfinished: string;
  private readonly bench: Bench;
  private readonly db: pg.Client;
  private readonly apiKeyId: string;
  private readonly url: string;
  private readonly auth: { authorization: string };

  private constructor(bench: Bench, db: pg.Client, apiKeyId: string, url: string, unfinished: string) {
    this.bench = bench;
    this.db = db;
    this.apiKeyId = apiKeyId;
    this.url = url;
    this.unfinished = unfinished;
    this.auth = { authorization: `Bearer ${bench.apiKey}` };
  }

  static async open(): Promise<Side> {
    const bench = await Bench.open();
    const url = await bench.service({ ROLE: 'api' });
    const db = new pg.Client(bench.databaseUrl);
    await db.connect();
    const { rows } = await db.query<{ id: string }>('select id from api_keys');
    const { task_id } = await post<{ task_id: string }>(`${url}/v1/generations`, bench.apiKey, generation);
    return new Side(bench, db, rows[0]?.id as string, url, task_id);
  }

  async addFinished(count: number): Promise<void> {
    await addFinished(this.db, this.apiKeyId, count);
    await this.settle();
    const { rows } = await this.db.query<{ id: string }>(
      `select id from tasks where api_key_id = $1 and status = 'succeeded' order by random() limit ${ANY}`,
      [this.apiKeyId],
    );
    this.finished = rows.map(({ id }) => id);
  }

  async addQueued(count: number): Promise<void> {
    await addQueued(this.db, this.apiKeyId, count);
    await this.settle();
  }

  getUnfinished(): Promise<Load> {
    return this.load({ url: `${this.url}/v1/tasks/${this.unfinished}` });
  }

  getFinished(): Promise<Load> {
    return this.load({ url: `${this.url}/v1/tasks/${this.finished[0]}` });
  }

  getAnyFinished(): Promise<Load> {
    let nth = 0;
    const path = () => `/v1/tasks/${this.finished[nth++ % this.finished.length]}`;
    return this.load({ url: this.url, requests: [{ setupRequest: (request) => ({ ...request, path: path() }) }] });
  }

  list(): Promise<Load> {
    return this.load({ url: `${this.url}/v1/tasks` });
  }

  async post(): Promise<Load> {
    const headers = { ...this.auth, ...json, 'idempotency-key': '[<id>]' };
    const body = JSON.stringify(generation);
    return this.load({ url: `${this.url}/v1/generations`, method: 'POST', headers, idReplacement: true, body });
  }

  /** Deletes what `post` has created since, so that a side keeps the size of its step. */
  async forgettingPosts<Result>(work: () => Promise<Result>): Promise<Result> {
    const first = await post<{ task_id: string }>(`${this.url}/v1/generations`, this.bench.apiKey, generation);
    const result = await work();
    await this.db.query('delete from tasks_done where id >= $1', [first.task_id]);
    await this.db.query('truncate idempotency_keys');
    await countQueued(this.db);
    await this.settle();
    return result;
  }

  /**
   * One round: an API key without tasks creates one and waits for its end.
   * @returns how many such tasks would end in a second
   */
  async stranger(): Promise<() => Promise<number>> {
    await this.bench.service({ ROLE: 'worker', NODE_OPTIONS: `--import ${INSTANT}` });
    const { key } = await post<{ key: string }>(`${this.url}/v1/api_keys`, this.bench.apiKey, { name: 'stranger' });
    return async () => {
      const startedAt = performance.now();
      const task = await post<{ status: string }>(`${this.url}/v1/generations`, key, generation, { prefer: 'wait=60' });
      if (task.status !== 'succeeded') throw new Error(`A task is ${task.status} after 60 s.`);
      return 1000 / (performance.now() - startedAt);
    };
  }

  /** @throws Error unless each finished task has its row in the ledger, as the end of a task writes it */
  async ledgerRows(): Promise<number> {
    const { rows } = await this.db.query<{ finished: number; ledger: number }>(`
      select (select count(*)::int from tasks where completed_at is not null) as finished,
             (select count(*)::int from usage_ledger) as ledger`);
    const { finished, ledger } = rows[0]!;
    if (ledger !== finished) throw new Error(`${finished} finished tasks have ${ledger} rows in the ledger.`);
    return ledger;
  }

  async waiting(): Promise<number> {
    const { rows } = await this.db.query<{ tasks: number }>('select sum(queued)::int as tasks from key_load');
    return rows[0]?.tasks ?? 0;
  }

  async close(): Promise<void> {
    await this.db.end();
    await this.bench.close();
  }

  private load(options: autocannon.Options): Promise<Load> {
    const pids = [this.bench.pidOf(this.url), this.bench.databasePid];
    return load({ headers: this.auth, ...options, connections: CONNECTIONS, duration: SECONDS }, ...pids);
  }

  /**
   * Does now what autovacuum and the system's write-back would do later. Without `index_cleanup` PostgreSQL leaves the
   * index entries of deleted rows if these are fewer than 2 % of a table. The entries of deleted POSTs are the newest
   * of the key, where a list begins, so each list would pass all of them (90,000 entries: 1 ms). In production the
   * service deletes the oldest rows.
   */
  private async settle(): Promise<void> {
    await this.db.query('vacuum (analyze, index_cleanup on) tasks_live, tasks_done, usage_ledger');
    await promisify(execFile)('sync');
  }
}

const rows: Record<string, object> = {};
let ledgerRows = { large: 0, small: 0 };
const loadBefore = loadavg()[0];
const [small, large] = [await Side.open(), await Side.open()];
try {
  await small.addFinished(SMALL);
  let size = 0;
  for (const finished of new Set([SMALL, Math.min(100_000, LARGEST), LARGEST])) {
    const startedAt = performance.now();
    await large.addFinished(finished - size);
    size = finished;
    console.log(`${finished} finished, filled in ${Math.round((performance.now() - startedAt) / 1000)} s`);
    await measure(`${finished.toLocaleString('en')} finished`);
  }
  ledgerRows = { large: await large.ledgerRows(), small: await small.ledgerRows() };
  await large.addQueued(QUEUED);
  await measure(`${size.toLocaleString('en')} finished, ${QUEUED.toLocaleString('en')} queued`);

  const [ofLarge, ofSmall] = [await large.stranger(), await small.stranger()];
  const row = await compare(STRANGERS, ['large', ofLarge], ['small', ofSmall]);
  rows['POST to the end of the task, another key'] = { ...row, still_queued: await large.waiting() };
} finally {
  await small.close();
  await large.close();
}
await report('growth', rows, {
  seconds: SECONDS,
  rounds: ROUNDS,
  connections: CONNECTIONS,
  small: SMALL,
  ledger_rows_of_large: ledgerRows.large,
  ledger_rows_of_small: ledgerRows.small,
  load_before: loadBefore,
});

async function measure(step: string): Promise<void> {
  const ask = async (name: string, round: (side: Side) => Promise<Load>) => {
    rows[`${name}: ${step}`] = await compare(ROUNDS, ['large', () => round(large)], ['small', () => round(small)]);
  };
  await ask('GET unfinished', (side) => side.getUnfinished());
  await ask('GET finished', (side) => side.getFinished());
  await ask('GET finished, any', (side) => side.getAnyFinished());
  await ask('list', (side) => side.list());
  await small.forgettingPosts(() => large.forgettingPosts(() => ask('POST', (side) => side.post())));
}
