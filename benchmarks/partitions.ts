/**
 * Does the service become slower with 30 partitions full of finished tasks?
 *
 *     npm run build && npm run bench -- partitions [finished tasks, 100000000] [seconds a round, 2] [rounds, 5]
 *
 * Two databases with one API process (ROLE=api) each. One keeps 20,000 finished tasks in the partitions of a new
 * installation. The other has one partition for each of the last 29 days and one for today. They are filled by
 * simulation: lean rows of finished tasks are inserted into unlogged tables without indexes, which then become
 * partitions. First a part of them is written, to learn how many bytes a task takes; if all would not fit in the free
 * space of the disk, fewer are written, and the result says how many. Rounds alternate, and results are medians.
 * `ratio` is large / small in requests a second at 64 connections; below 1 is slower.
 *
 * "GET finished, any" asks for twice the tasks that a process caches or more, in turn, so that the database answers on both
 * sides. Each is read once before the rounds: what a disk takes for a page that is not in memory is no part of this. "POST to end"
 * is the claim: a worker whose provider answers at once, and tasks one at a time, in tasks a second.
 */
import autocannon from 'autocannon';
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { compare } from './support/compare.ts';
import { type Load, load } from './support/load.ts';
import { fillTable } from './support/many-tasks.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const WANTED = Number(process.argv[2] ?? 100_000_000);
const SECONDS = Number(process.argv[3] ?? 2);
const ROUNDS = Number(process.argv[4] ?? 5);
/** Every second one is of the measured key: twice what a process caches, so that the database answers on both sides. */
const SMALL = 20_000;
const PARTITIONS = 30;
/** All but that of today. */
const FULL = PARTITIONS - 1;
const CONNECTIONS = 64;
const DAY_MS = 86_400_000;
/** Tasks from which the size of one is learnt. */
const SAMPLE = 20_000;
/** Share of the free disk that may be used. */
const OF_DISK = 0.8;
/** Many times what a process caches. */
const ANY = 50_000;
const TASKS_TO_END = 30;
/** Tasks that are not counted: each connection plans each statement once, which takes milliseconds with 30 partitions. */
const WARM_UP = 60;
const INSTANT = new URL('support/instant-provider.ts', import.meta.url).href;
const { idBoundAt } = await import(new URL('../dist/platform/schema/id-time.js', import.meta.url).href);

const json = { 'content-type': 'application/json' };
const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };

/** A database and the program on it. */
class Side {
  private readonly bench: Bench;
  private readonly db: pg.Client;
  private readonly url: string;
  private readonly apiKeyId: string;
  private finished: string[] = [];

  private constructor(bench: Bench, db: pg.Client, url: string, apiKeyId: string) {
    this.bench = bench;
    this.db = db;
    this.url = url;
    this.apiKeyId = apiKeyId;
  }

  static async open(): Promise<Side> {
    const bench = await Bench.open();
    const url = await bench.service({ ROLE: 'api' });
    const db = new pg.Client(bench.databaseUrl);
    await db.connect();
    const { rows } = await db.query<{ id: string }>('select id from api_keys');
    return new Side(bench, db, url, rows[0]!.id);
  }

  async fillSmall(): Promise<void> {
    const [from, to] = [Date.now() - FULL * DAY_MS, Date.now()];
    await fillTable(this.db, 'tasks', this.apiKeyId, SMALL, from, to);
    await this.db.query('vacuum tasks');
    await this.settle(SMALL);
  }

  /** @returns how many were written, and the bytes of one with its entries in indexes */
  async fillPartitions(wanted: number): Promise<{ tasks: number; bytes: number }> {
    await this.db.query(
      `set synchronous_commit = off; set maintenance_work_mem = '512MB'; set max_parallel_maintenance_workers = 0`,
    );
    await this.db.query('alter table tasks detach partition tasks_first; drop table tasks_first');
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const dayAgo = (days: number) => today - days * DAY_MS; // all within the retention of 30
    const bytes = await this.addDay(dayAgo(FULL), SAMPLE);
    const { bavail, bsize } = statfsSync(tmpdir());
    const each = Math.floor(Math.min(wanted, (bavail * bsize * OF_DISK) / bytes) / (FULL - 1));
    for (let days = FULL - 1; days > 0; days -= 1) await this.addDay(dayAgo(days), each);
    await this.db.query(
      `create table tasks_today partition of tasks for values from ('${idBoundAt(today)}') to ('${idBoundAt(today + DAY_MS)}') with (fillfactor = 80)`,
    );
    const tasks = SAMPLE + each * (FULL - 1);
    await this.settle(tasks);
    return { tasks, bytes };
  }

  private async addDay(fromMs: number, count: number): Promise<number> {
    const [from, to] = [idBoundAt(fromMs), idBoundAt(fromMs + DAY_MS)];
    const name = `tasks_${from.slice('task_'.length)}`;
    await this.db.query(
      `create unlogged table ${name} (like tasks including defaults including constraints including storage)`, // the updates of real tasks have used up the space that is left free for them
    );
    await fillTable(this.db, name, this.apiKeyId, count, fromMs, fromMs + DAY_MS);
    await this.db.query(
      `alter table ${name} add constraint in_range check (id >= '${from}' and id < '${to}') not valid`,
    );
    await this.db.query(`alter table tasks attach partition ${name} for values from ('${from}') to ('${to}')`);
    await this.db.query(`vacuum ${name}`);
    const { rows } = await this.db.query<{ bytes: string }>('select pg_total_relation_size($1) as bytes', [name]);
    return Number(rows[0]!.bytes) / count;
  }

  private async settle(tasks: number): Promise<void> {
    await this.db.query('analyze tasks');
    const percent = Math.min(100, (100 * ANY * 2) / tasks); // every second one is of the measured key
    const { rows } = await this.db.query<{ id: string }>(
      `select id from tasks tablesample system (${percent}) where api_key_id = $1 and status = 'succeeded'`,
      [this.apiKeyId],
    );
    this.finished = rows.map(({ id }) => id).toSorted(() => Math.random() - 0.5);
  }

  /** The database answers on both sides. */
  async getUnfinished(): Promise<() => Promise<Load>> {
    const { task_id } = await post<{ task_id: string }>(`${this.url}/v1/generations`, this.bench.apiKey, generation);
    return () => this.load({ url: `${this.url}/v1/tasks/${task_id}` });
  }

  getAny(options: Partial<autocannon.Options> = {}): Promise<Load> {
    let nth = 0;
    const path = () => `/v1/tasks/${this.finished[nth++ % this.finished.length]}`;
    return this.load({ ...options, requests: [{ setupRequest: (request) => ({ ...request, path: path() }) }] });
  }

  /** Brings the pages of what `getAny` asks for into memory. */
  async readAny(): Promise<void> {
    await this.getAny({ amount: this.finished.length });
  }

  list(): Promise<Load> {
    return this.load({ url: `${this.url}/v1/tasks` });
  }

  post(): Promise<Load> {
    const body = JSON.stringify(generation);
    return this.load({ url: `${this.url}/v1/generations`, method: 'POST', headers: { ...this.auth, ...json }, body });
  }

  /** Ends what POST has created: the claim is asked next. */
  async withWorker(): Promise<() => Promise<number>> {
    await this.db.query(
      `update tasks set status = 'failed', completed_at = now() where status = 'queued'; update key_load set queued = 0`,
    );
    await this.bench.service({ ROLE: 'worker', NODE_OPTIONS: `--import ${INSTANT}` });
    return async () => {
      const startedAt = performance.now();
      const task = await post<{ status: string }>(`${this.url}/v1/generations`, this.bench.apiKey, generation, {
        prefer: 'wait=60',
      });
      if (task.status !== 'succeeded') throw new Error(`A task is ${task.status} after 60 s.`);
      return 1000 / (performance.now() - startedAt);
    };
  }

  async close(): Promise<void> {
    await this.db.end();
    await this.bench.close();
  }

  private get auth() {
    return { authorization: `Bearer ${this.bench.apiKey}` };
  }

  private load(options: Partial<autocannon.Options>): Promise<Load> {
    const pids = [this.bench.pidOf(this.url), this.bench.databasePid];
    return load(
      { url: this.url, headers: this.auth, duration: SECONDS, ...options, connections: CONNECTIONS },
      ...pids,
    );
  }
}

const rows: Record<string, object> = {};
const [small, large] = [await Side.open(), await Side.open()];
let filled = { tasks: 0, bytes: 0 };
let fillS = 0;
try {
  await small.fillSmall();
  const startedAt = performance.now();
  filled = await large.fillPartitions(WANTED);
  fillS = Math.round((performance.now() - startedAt) / 1000);
  console.log(`${filled.tasks} finished tasks of ${Math.round(filled.bytes)} bytes, filled in ${fillS} s`);
  const ask = async (name: string, round: (side: Side) => Promise<Load>) => {
    rows[name] = await compare(ROUNDS, ['large', () => round(large)], ['small', () => round(small)]);
  };
  const [unfinishedOfLarge, unfinishedOfSmall] = [await large.getUnfinished(), await small.getUnfinished()];
  rows['GET unfinished'] = await compare(ROUNDS, ['large', unfinishedOfLarge], ['small', unfinishedOfSmall]);
  await large.readAny();
  await small.readAny();
  await ask('GET finished, any', (side) => side.getAny());
  await ask('list', (side) => side.list());
  await ask('POST', (side) => side.post());
  const [ofLarge, ofSmall] = [await large.withWorker(), await small.withWorker()];
  for (let nth = 0; nth < WARM_UP; nth += 1) await Promise.all([ofLarge(), ofSmall()]);
  rows['POST to end, one at a time'] = await compare(TASKS_TO_END, ['large', ofLarge], ['small', ofSmall]);
} finally {
  await small.close();
  await large.close();
}
await report('partitions', rows, {
  seconds: SECONDS,
  rounds: ROUNDS,
  connections: CONNECTIONS,
  partitions: PARTITIONS,
  wanted: WANTED,
  finished_of_large: filled.tasks,
  finished_of_small: SMALL,
  bytes_of_a_task: Math.round(filled.bytes),
  fill_s: fillS,
});
