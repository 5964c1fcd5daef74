import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Client, Pool } from 'pg';
import { loadConfig } from '../../src/platform/config.ts';
import { createDataSource } from '../../src/platform/database/data-source.ts';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded-postgres.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { findPostgresBinaries } from '../../src/platform/database/postgres-binaries.ts';
import { choosePostgresUser } from '../../src/platform/database/postgres-user.ts';
import { defineJob, Jobs } from '../../src/platform/jobs/jobs.ts';
import { StrayJobs } from '../../src/platform/jobs/stray-jobs.ts';
import { addJob, addJobs } from '../support/add-jobs.ts';
import { cloneDatabase } from '../support/database.ts';
import { makeGround, removeGround } from '../support/test-ground.ts';

const job = defineJob<{ id: number }>('test-recovery');

async function until(met: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  for (const end = Date.now() + withinMs; !(await met()); await sleep(10)) {
    if (Date.now() > end) throw new Error(`Not met within ${withinMs} ms: ${met}`);
  }
}

describe('jobs when the database restarts', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('go on by themselves, with none lost, while some run and others end', async () => {
    const ground = makeGround();
    const dataDir = join(ground, 'data');
    const embedded = await startEmbeddedPostgres(dataDir); // durable, since the restart is a crash
    await migrate(embedded.url);
    const dataSource = await createDataSource(embedded.url).initialize();
    const jobs = new Jobs(dataSource, loadConfig({}));
    const done = new Set<number>();
    const gate = Promise.withResolvers<void>();
    jobs.handle(job, async ({ id }) => {
      if (id < 10) await gate.promise;
      else await sleep(id % 40);
      done.add(id);
    });
    try {
      await jobs.start();
      await addJobs(
        dataSource,
        job,
        Array.from({ length: 1000 }, (_, id) => ({ payload: { id } })),
      );
      await until(() => done.size > 50);
      await restart(dataDir);
      const doneBefore = done.size;
      await until(() => done.size > doneBefore + 50); // the queue by itself would wait for up to a minute
      gate.resolve();
      // Jobs whose fetch the restart cut off are found again by the sweep.
      await until(() => done.size === 1000, 30_000);

      await until(() => jobs.isHearing());
      await addJob(dataSource, job, { id: 5000 });
      await until(() => done.has(5000));
    } finally {
      gate.resolve();
      await jobs.stop(1000);
      await dataSource.destroy();
      await embedded.leave();
      await removeGround(ground);
    }
  }, 180_000);

  it('stop within seconds while it is away', async () => {
    const ground = makeGround();
    const embedded = await startEmbeddedPostgres(join(ground, 'data'), { fsync: false });
    await migrate(embedded.url);
    const dataSource = await createDataSource(embedded.url).initialize();
    const jobs = new Jobs(dataSource, loadConfig({}));
    jobs.handle(job, async () => undefined);
    try {
      await jobs.start();
      expect(jobs.isHearing()).toBe(true);
      process.kill(
        Number(readFileSync(join(ground, 'data/postgres/postmaster.pid'), 'utf8').split('\n')[0]),
        'SIGQUIT',
      );
      await until(() => !jobs.isHearing());
      const stoppingAt = Date.now();
      await jobs.stop(60_000);
      expect(Date.now() - stoppingAt).toBeLessThan(30_000); // and not the grace period
    } finally {
      await dataSource.destroy();
      await removeGround(ground);
    }
  });

  /** As after a crash of the server: every connection is cut, and it recovers from its log, on the same port. */
  async function restart(dataDir: string): Promise<void> {
    const binaries = findPostgresBinaries();
    const cluster = join(dataDir, 'postgres');
    const log = join(cluster, 'server.log');
    const args = ['restart', '-D', cluster, '-m', 'immediate', '-w', '-l', log];
    await choosePostgresUser(dataDir, cluster, binaries).run(binaries.pgCtl, args);
  }
});

describe('a job whose holder is gone', () => {
  it('is told from one that a stopping process still runs', async () => {
    const database = await cloneDatabase();
    const dataSource = await createDataSource(database.url).initialize();
    const jobs = new Jobs(dataSource, loadConfig({}));
    const gate = Promise.withResolvers<void>();
    let begun = false;
    jobs.handle(job, () => {
      begun = true;
      return gate.promise;
    });
    const named = async () =>
      (
        await dataSource.query<{ held: boolean }[]>(
          `select exists (select from pg_stat_activity where application_name = locked_by) as held
             from graphile_worker.jobs where locked_by is not null`,
        )
      )[0]?.held;
    try {
      await jobs.start();
      await addJob(dataSource, job, { id: 1 });
      // One fetched but not begun would be given back by the stop.
      await until(async () => begun && (await named()) === true);
      const stopping = jobs.stop(20_000);
      await until(() => !jobs.isHearing());
      expect(await named()).toBe(true);
      gate.resolve();
      await stopping;
      await until(async () => {
        const left = await dataSource.query(`select 1 from pg_stat_activity where application_name like 'pool-%'
                                             and datname = current_database()`);
        return left.length === 0;
      });
    } finally {
      gate.resolve();
      await jobs.stop(0);
      await dataSource.destroy();
      await database.drop();
    }
  });

  it('is freed, while those of living holders stay locked', async () => {
    const database = await cloneDatabase();
    const pool = new Pool({ connectionString: database.url, max: 2 });
    pool.on('error', () => undefined); // its idle connections are cut when the database is dropped
    const neighbour = new Client({ connectionString: database.url, application_name: 'pool-alive' });
    await neighbour.connect();
    const strays = new StrayJobs(pool, 20, 200, 200);
    strays.holds('pool-mine');
    const lock = async (holder: string) => {
      const { rows } = await pool.query<{ id: string }>(
        `with added as (select id from graphile_worker.add_job('test-recovery'))
         select id from added`,
      );
      const { id } = rows[0]!;
      await pool.query(
        'update graphile_worker._private_jobs set locked_by = $2, locked_at = now(), attempts = 1 where id = $1',
        [id, holder],
      );
      return id;
    };
    const holderOf = async (id: string) =>
      (await pool.query<{ locked_by: string | null }>('select locked_by from graphile_worker.jobs where id = $1', [id]))
        .rows[0]!.locked_by;
    try {
      const ofTheDead = await lock('pool-dead');
      const ofTheLiving = await lock('pool-alive');
      const mineRunning = await lock('pool-mine');
      const mineForgotten = await lock('pool-mine');
      strays.began(mineRunning);
      strays.start();

      await until(async () => (await holderOf(ofTheDead)) === null && (await holderOf(mineForgotten)) === null);
      expect(await holderOf(ofTheLiving)).toBe('pool-alive');
      expect(await holderOf(mineRunning)).toBe('pool-mine');

      await neighbour.end();
      await until(async () => (await holderOf(ofTheLiving)) === null);
    } finally {
      await strays.stop();
      await pool.end();
      await database.drop();
    }
  });
});
