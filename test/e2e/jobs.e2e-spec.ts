import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { loadConfig } from '../../src/platform/config.ts';
import { createDataSource } from '../../src/platform/database/data-source.ts';
import { defineJob, Jobs, JOBS_AT_ONCE } from '../../src/platform/jobs/jobs.ts';
import { addJob, addJobs } from '../support/add-jobs.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const short = defineJob<{ id: string }>('test-short');
const other = defineJob<{ id: string }>('test-other');
const long = defineJob<{ id: string }>('test-long');
const all = [short, other, long];

const config = loadConfig({ DATA_DIR: '/nonexistent' });

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
    jobs = new Jobs(dataSource, config);
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
    await expect(jobs.start()).rejects.toThrow('No handler for the job "test-other", "test-long".');
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
      await addJob(tx, short, { id: 'rolled back' });
      throw new Error('rolled back');
    });
    await expect(broken).rejects.toThrow('rolled back');
    await dataSource.transaction((tx) => addJob(tx, short, { id: 'committed' }));
    await until(() => done.length > 0);
    expect(done).toEqual(['committed']);
  });

  it('waits for its time', async () => {
    const startedAt = Date.now();
    await addJob(dataSource, short, { id: 'later' }, { runAt: new Date(startedAt + 700) });
    await addJob(dataSource, short, { id: 'now' });
    let laterAt = 0;
    handleAll(async ({ id }) => {
      if (id === 'later') laterAt = Date.now();
      done.push(id);
    });
    await jobs.start();
    await until(() => done.length === 2);
    expect(laterAt - startedAt).toBeGreaterThanOrEqual(700);
  });

  it('runs a failed job again, and says which attempt it is', async () => {
    const attempts: number[] = [];
    [other, long].forEach((job) => jobs.handle(job, async () => undefined));
    jobs.handle(short, async (_payload, { attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error('first attempt fails');
    });
    await jobs.start();
    await addJob(dataSource, short, { id: 'a' });
    await until(() => attempts.length === 2);
    expect(attempts).toEqual([1, 2]);
  });

  it('gives back what a full process fetched but cannot begin, so that another can run it', async () => {
    const gate = Promise.withResolvers<void>();
    handleAll(async ({ id }) => {
      await gate.promise;
      done.push(id);
    });
    await jobs.start();
    await addJobs(
      dataSource,
      long,
      Array.from({ length: 45 }, (_, i) => ({ payload: { id: `${i}` } })),
    );
    await until(async () => (await lockedJobs()) === JOBS_AT_ONCE);
    const neighbour = new Jobs(dataSource, config);
    const begun: string[] = [];
    all.forEach((job) => neighbour.handle(job, async ({ id }) => void begun.push(id)));
    await neighbour.start();
    await until(() => begun.length === 45 - JOBS_AT_ONCE);
    gate.resolve();
    await until(() => done.length === JOBS_AT_ONCE);
    await neighbour.stop(0);
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
    await addJob(dataSource, long, { id: 'running' });
    await until(() => begun);
    const stopping = jobs.stop(5000);
    await addJob(dataSource, short, { id: 'too late' });
    await stopping;
    expect(done).toEqual(['running']);
    const left = await dataSource.query('select locked_at from graphile_worker.jobs');
    expect(left).toEqual([{ locked_at: null }]);
  });

  it('tells running jobs at once that it stops, and aborts them after the grace period', async () => {
    const heard: string[] = [];
    [short, other].forEach((job) => jobs.handle(job, async () => undefined));
    let begun = false;
    jobs.handle(long, async (_payload, { draining, signal }) => {
      begun = true;
      draining.addEventListener('abort', () => heard.push('draining'));
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      heard.push('aborted');
    });
    await jobs.start();
    await addJob(dataSource, long, { id: 'endless' });
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
      await addJob(dataSource, i % 2 ? short : long, { id: `${i}` });
      const committedAt = performance.now();
      await until(() => startedAt.has(`${i}`));
      latencies.push(Math.max(0, startedAt.get(`${i}`)! - committedAt));
    }
    const median = latencies.sort((a, b) => a - b)[20]!;
    expect(median).toBeLessThan(150); // about 1 ms on an idle machine; the bound only tells NOTIFY from polling (250 ms)
  });
});
