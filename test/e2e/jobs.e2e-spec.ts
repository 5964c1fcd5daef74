import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { loadConfig } from '../../src/platform/config.ts';
import { createDataSource } from '../../src/platform/database/data-source.ts';
import { defineJob, Jobs } from '../../src/platform/jobs/jobs.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const short = defineJob<{ id: string }>('test-short');
const keyed = defineJob<{ id: string }>('test-keyed', { jobKey: ({ id }) => `keyed:${id}` });
const long = defineJob<{ id: string }>('test-long', { queue: 'generation' });
const all = [short, keyed, long];

const config = (concurrency = 50) => loadConfig({ WORKER_CONCURRENCY: String(concurrency), DATA_DIR: '/nonexistent' });

async function until(met: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  for (const end = Date.now() + withinMs; !(await met()); await sleep(5)) {
    if (Date.now() > end) throw new Error(`Not met within ${withinMs} ms: ${met}`);
  }
}

describe('jobs', () => {
  beforeAll(() => Logger.overrideLogger(false));

  let database: TestDatabase;
  let dataSource: DataSource;
  let jobs: Jobs;
  let done: string[];

  beforeEach(async () => {
    database = await cloneDatabase();
    dataSource = await createDataSource(database.url).initialize();
    jobs = new Jobs(dataSource, config());
    done = [];
  });

  afterEach(async () => {
    await jobs.stop(0);
    await dataSource.destroy();
    await database.drop();
  });

  const handleAll = (handler: (payload: { id: string }) => Promise<void> = async ({ id }) => void done.push(id)) =>
    all.forEach((job) => jobs.handle(job, handler));

  it('does not start with a job that nobody does', async () => {
    jobs.handle(short, async () => undefined);
    await expect(jobs.start()).rejects.toThrow('No handler for the job "test-keyed", "test-long".');
  });

  it('refuses a second handler, a second definition and a handler that comes too late', async () => {
    handleAll();
    expect(() => jobs.handle(short, async () => undefined)).toThrow('two handlers');
    expect(() => defineJob('test-short')).toThrow('defined twice');
    await jobs.start();
    expect(() => jobs.handle(short, async () => undefined)).toThrow('after the start');
  });

  it('obeys the commit of the transaction that asked', async () => {
    handleAll();
    await jobs.start();
    const broken = dataSource.transaction(async (tx) => {
      await jobs.add(tx, short, { id: 'rolled back' });
      throw new Error('rolled back');
    });
    await expect(broken).rejects.toThrow('rolled back');
    await dataSource.transaction((tx) => jobs.add(tx, short, { id: 'committed' }));
    await until(() => done.length > 0);
    expect(done).toEqual(['committed']);
  });

  it('keeps one waiting job of a key, the last one', async () => {
    await jobs.add(null, keyed, { id: 'a' });
    await jobs.addMany(null, keyed, [{ payload: { id: 'a' } }, { payload: { id: 'b' } }, { payload: { id: 'a' } }]);
    handleAll();
    await jobs.start();
    await until(() => done.length >= 2);
    await sleep(50);
    expect(done.sort()).toEqual(['a', 'b']);
  });

  it('waits for its time, and runs the smaller priority first, however large the larger one is', async () => {
    const startedAt = Date.now();
    await jobs.add(null, short, { id: 'later' }, { runAt: new Date(startedAt + 700) });
    jobs = new Jobs(dataSource, config(1));
    await jobs.addMany(null, long, [
      { payload: { id: 'large' }, priority: 1_000_000 },
      { payload: { id: 'small' }, priority: 1 },
    ]);
    let laterAt = 0;
    handleAll(async ({ id }) => {
      if (id === 'later') laterAt = Date.now();
      done.push(id);
    });
    await jobs.start();
    await until(() => done.length === 3);
    expect(done.filter((id) => id !== 'later')).toEqual(['small', 'large']);
    expect(laterAt - startedAt).toBeGreaterThanOrEqual(700);
  });

  it('runs a failed job again, and says which attempt it is', async () => {
    const attempts: number[] = [];
    [keyed, long].forEach((job) => jobs.handle(job, async () => undefined));
    jobs.handle(short, async (_payload, { attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error('first attempt fails');
    });
    await jobs.start();
    await jobs.add(null, short, { id: 'a' });
    await until(() => attempts.length === 2);
    expect(attempts).toEqual([1, 2]);
  });

  it('runs no more generation jobs at once than configured, and other jobs beside them', async () => {
    jobs = new Jobs(dataSource, config(3));
    let running = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    [short, keyed].forEach((job) => jobs.handle(job, async ({ id }) => void done.push(id)));
    jobs.handle(long, async ({ id }) => {
      most = Math.max(most, ++running);
      await gate.promise;
      running--;
      done.push(id);
    });
    await jobs.start();
    await jobs.addMany(
      null,
      long,
      Array.from({ length: 8 }, (_, i) => ({ payload: { id: `long ${i}` } })),
    );
    await until(() => running === 3);
    await jobs.add(null, short, { id: 'short' });
    await until(() => done.includes('short'));
    // What the full process fetched but cannot begin goes back, so that another process can run it.
    await until(async () => (await lockedJobs()) === 3);
    gate.resolve();
    await until(() => done.length === 9);
    expect(most).toBe(3);
  });

  const lockedJobs = async () =>
    (
      await dataSource.query<{ n: number }[]>(
        'select count(*)::int as n from graphile_worker.jobs where locked_at is not null',
      )
    )[0]!.n;

  it('lets running jobs end within the grace period when it stops, and takes no new ones', async () => {
    let begun = false; // one fetched but not begun would be given back
    handleAll(async ({ id }) => {
      begun = true;
      await sleep(200);
      done.push(id);
    });
    await jobs.start();
    await jobs.add(null, long, { id: 'running' });
    await until(() => begun);
    const stopping = jobs.stop(5000);
    await jobs.add(null, short, { id: 'too late' });
    await stopping;
    expect(done).toEqual(['running']);
    const left = await dataSource.query('select locked_at from graphile_worker.jobs');
    expect(left).toEqual([{ locked_at: null }]);
  });

  it('tells running jobs at once that it stops, and aborts them after the grace period', async () => {
    const heard: string[] = [];
    [short, keyed].forEach((job) => jobs.handle(job, async () => undefined));
    let begun = false;
    jobs.handle(long, async (_payload, { draining, signal }) => {
      begun = true;
      draining.addEventListener('abort', () => heard.push('draining'));
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      heard.push('aborted');
    });
    await jobs.start();
    await jobs.add(null, long, { id: 'endless' });
    await until(() => begun);
    const stoppingAt = Date.now();
    const stopping = jobs.stop(300);
    expect(heard).toEqual(['draining']);
    await stopping;
    expect(heard).toEqual(['draining', 'aborted']);
    expect(Date.now() - stoppingAt).toBeLessThan(5_000); // when it would leave behind what does not settle
  });

  it('begins a job within milliseconds of its commit', async () => {
    const startedAt = new Map<string, number>();
    handleAll(async ({ id }) => void startedAt.set(id, performance.now()));
    await jobs.start();
    const latencies: number[] = [];
    for (let i = 0; i < 40; i++) {
      await sleep(40); // idle again
      await jobs.add(null, i % 2 ? short : long, { id: `${i}` });
      const committedAt = performance.now();
      await until(() => startedAt.has(`${i}`));
      latencies.push(Math.max(0, startedAt.get(`${i}`)! - committedAt));
    }
    const median = latencies.sort((a, b) => a - b)[20]!;
    expect(median).toBeLessThan(150); // about 1 ms on an idle machine; the bound only tells NOTIFY from polling (250 ms)
  });
});
