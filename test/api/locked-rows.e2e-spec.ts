import { Client, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { Config } from '../../src/platform/config/config.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { DAY_MS } from '../../src/platform/schema/time.ts';
import { EndTasks } from '../../src/tasks/sql/end-tasks.ts';
import { RecordProgress } from '../../src/tasks/sql/record-progress.ts';
import { RenewLeases } from '../../src/tasks/sql/renew-leases.ts';
import { TakeLeases } from '../../src/tasks/sql/take-leases.ts';
import { taskError } from '../../src/tasks/record/task-error.ts';
import { newTaskId } from '../../src/tasks/record/task-id.ts';
import type { UsageTerms } from '../../src/tasks/record/usage-terms.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';

/** Long after the tasks of today. */
const LATER_MS = 400 * DAY_MS;

describe('a statement that waits for the row of one task', () => {
  let database: TestDatabase;
  let pool: Pool;
  let sql: Sql;
  let other: Client;
  beforeAll(async () => {
    database = await cloneDatabase();
    pool = new Pool({ connectionString: database.url });
    sql = new Sql({ driver: { master: pool } } as unknown as DataSource);
    other = new Client({ connectionString: database.url });
    await other.connect();
  });
  afterAll(async () => {
    await other?.end();
    await pool?.end();
    await database?.drop();
  });

  const config = { taskLeaseS: 30, fileRetentionDays: 30 } as Config;
  const terms = { currency: 'USD', revealProviders: true } as UsageTerms;

  /** Running tasks of two days, in the order of their ids. */
  async function runningTasks(): Promise<string[]> {
    const ids = [0, 1, LATER_MS, LATER_MS + 1].map((ms) => newTaskId(Date.now() + ms));
    await other.query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, attempt, waits, worker_id, lease_until, created_at, expires_at, deadline_at)
       select id, 'key_a', 'image', 'gpt-image-2', 'running', '{}', 1, false, 'w', now() + interval '30 s', now(), now() + interval '1 day', now() + interval '1 hour'
       from unnest($1::text[]) as t(id)`,
      [ids],
    );
    return ids;
  }

  it.each<[string, (ids: string[]) => Promise<unknown[]>]>([
    [
      'renews all leases',
      async (ids) => [...(await new RenewLeases(sql, config).renew(ids.map((id) => ({ id, attempt: 1 }))))],
    ],
    [
      'gives all leases back',
      (ids) =>
        new RenewLeases(sql, config).release(
          ids.map((id) => ({ id, attempt: 1 })),
          0,
          null,
        ),
    ],
    ['takes all leases', (ids) => new TakeLeases(sql).take(ids)],
    [
      'records the progress of all',
      async (ids) => {
        const progress = new RecordProgress(sql);
        const records = ids.map((id) => progress.record({ id, attempt: 1, progress: 7 }));
        return (await Promise.all(records)).filter((task) => task !== null);
      },
    ],
  ])('%s, also when another transaction has changed that row', async (_, act) => {
    const ids = await runningTasks();
    await other.query('begin');
    await other.query('update tasks_live set progress = 1 where id = $1', [ids[0]]);
    const acted = act(ids);
    await untilWaiting();
    await other.query('commit');
    expect(await acted).toHaveLength(ids.length);
  });

  it('counts the ends of all, also when another transaction has changed the counters of the key', async () => {
    const ids = await runningTasks();
    await other.query(`insert into key_load (api_key_id, queued, running) values ('key_a', 1, 5)`);
    await other.query('begin');
    await other.query(`update key_load set queued = queued + 2, running = running - 1 where api_key_id = 'key_a'`);
    const outcome = { status: 'failed', error: taskError('task_cancelled') } as const;
    const ends = new EndTasks(sql, config, terms);
    const ended = ids.map((id) => ends.end({ id, api_key_id: 'key_a', attempt: 1, outcome }));
    await untilWaiting();
    await other.query('commit');
    expect(await Promise.all(ended)).not.toContain(null);
    const { rows } = await other.query(`select queued, running from key_load where api_key_id = 'key_a'`);
    expect(rows).toEqual([{ queued: 3, running: 0 }]);
  });

  /** Until a connection waits for the lock that `other` holds. For `other`, pg_stat_activity stands still during its transaction. */
  const untilWaiting = () =>
    eventually('a connection to wait', async () => {
      const blocked =
        'select 1 from pg_stat_activity where pg_backend_pid() <> pid and cardinality(pg_blocking_pids(pid)) > 0';
      return (await queryOnce(database.url, `${blocked} and datname = current_database()`)).length > 0;
    });
});
