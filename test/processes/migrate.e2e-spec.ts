import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { migrate, migrateTo } from '../../src/platform/database/migrate.ts';
import { BASELINE } from '../../src/platform/database/baseline-names.ts';
import { TwoTables1700000000049 } from '../../src/platform/database/migrations/0049-two-tables.ts';
import { MIGRATIONS } from '../../src/platform/database/migrations.ts';
import { noteOldestPrograms } from '../../src/platform/database/oldest-program.ts';
import { testEnv } from '../support/test-env.ts';
import { LockedRows } from '../support/faults/locked-rows.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';
import { launchService, spawnService } from '../support/process.ts';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

describe('migrate', () => {
  let database: TestDatabase;
  let client: Client;

  /** The error of a migration that never gets its table. It takes 8 s, beside the other tests. */
  let givenUp: Promise<string>;
  beforeAll(async () => {
    const locked = await emptyDatabase();
    await migrateTo(locked.url, [BASELINE]);
    const rows = await LockedRows.by(locked.url, 'lock table tasks in access share mode');
    givenUp = migrate(locked.url, { maxTries: 3 }).then(
      () => 'It migrated.',
      (error: Error) => error.message,
    );
    void givenUp.then(() => rows.release()).then(() => locked.drop());
  });

  beforeEach(async () => {
    database = await cloneDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });

  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const done = async () => (await client.query('select * from schema_migrations order by id')).rows;

  it('migrates an empty database when two processes start at once', async () => {
    await client.query('drop schema public cascade; create schema public');
    await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(await done()).toHaveLength(MIGRATIONS.length);
  });

  /** Runs the program until it ends by itself. */
  async function run(settings: Record<string, string>): Promise<[number, string]> {
    const { env, dataDir } = await testEnv(database.url, settings);
    const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env.PATH, ...env }, cwd: dataDir });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
    const [code] = await once(child, 'exit');
    await rm(dataDir, { recursive: true });
    return [code, output];
  }

  it('migrates and ends with MIGRATE=only', async () => {
    await client.query('drop schema public cascade; create schema public');
    expect(await run({ MIGRATE: 'only' })).toEqual([0, 'The database is up to date.\n']);
    expect(await done()).toHaveLength(MIGRATIONS.length);
    expect((await client.query('select from api_keys')).rowCount).toBe(0);
    expect(await run({ MIGRATE: 'only' })).toEqual([0, 'The database is up to date.\n']);
  });

  it('refuses to start with MIGRATE=off while a migration is missing, and changes nothing', async () => {
    await client.query(`delete from schema_migrations where name = '${MIGRATIONS.at(-1)?.name}'`);
    const [code, output] = await run({ MIGRATE: 'off' });
    expect([code, output]).toEqual([1, expect.stringContaining(`(the first is ${MIGRATIONS.at(-1)?.name})`)]);
    expect(await done()).toHaveLength(MIGRATIONS.length - 1);
    await client.query('drop schema public cascade; create schema public');
    expect(await run({ MIGRATE: 'off' })).toEqual([1, expect.stringContaining(`lacks ${MIGRATIONS.length} of`)]);
    expect((await client.query("select from pg_tables where schemaname = 'public'")).rowCount).toBe(0);
  });

  it('lets others pass while a table that it wants is locked, and goes on once it is free', async () => {
    await client.query('drop schema public cascade; create schema public');
    await migrateTo(database.url, [BASELINE]);
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    try {
      await client.query('begin; lock table tasks in access share mode'); // as a long query does
      let isOver = false;
      const migrated = migrate(database.url).finally(() => (isOver = true));
      let longestMs = 0;
      // Twice the migration is in front of the reader, and lets it pass.
      for (let waits = 0; waits < 2;) {
        const begunMs = performance.now();
        await reader.query('select from tasks limit 1');
        const tookMs = performance.now() - begunMs;
        if (tookMs > 500) waits += 1;
        longestMs = Math.max(longestMs, tookMs);
        await sleep(50);
      }
      expect(isOver).toBe(false);
      await client.query('commit');
      await migrated;
      expect(longestMs).toBeLessThan(60_000); // it waits for 2 s
      expect(await done()).toHaveLength(MIGRATIONS.length);
    } finally {
      await reader.end();
    }
  });

  it('refuses a database that a migration has made too new for this program, whether it may migrate or not', async () => {
    await noteOldestPrograms(client, [{ name: MIGRATIONS[0]!.name, oldest: '0.1.0' }]);
    expect(await run({ MIGRATE: 'only' })).toEqual([0, 'The database is up to date.\n']);
    await noteOldestPrograms(client, [{ name: MIGRATIONS[0]!.name, oldest: '0.10.0' }]);
    const reason = expect.stringContaining(
      `needs Darkroom 0.10.0 or newer, since the migration ${MIGRATIONS[0]!.name}`,
    );
    const runs = await Promise.all(['auto', 'off', 'only'].map((MIGRATE) => run({ MIGRATE })));
    expect(runs).toEqual([1, 2, 3].map(() => [1, reason]));
  });

  it('starts with MIGRATE=off in a database that is up to date or newer', async () => {
    await client.query("insert into schema_migrations (timestamp, name) values (1799999999999, 'FromTheFuture')");
    const { env, dataDir } = await testEnv(database.url, { MIGRATE: 'off' });
    const service = await spawnService(env);
    expect((await service.api.get('/readyz')).status).toBe(200);
    await service.kill('SIGTERM');
    await rm(dataDir, { recursive: true });
  });

  /** Makes its migrations those of a pre-release. */
  const renameBaseline = (...names: string[]) =>
    client.query(
      `with gone as (delete from schema_migrations returning 1)
       insert into schema_migrations (timestamp, name) select right(name, 13)::bigint, name from unnest($1::text[]) as name`,
      [names],
    );

  it('takes over a database of the last pre-release, and refuses one of an earlier one with what to do', async () => {
    await client.query('drop schema public cascade; create schema public');
    await migrateTo(database.url, [BASELINE]);
    await renameBaseline('ApiKeys1700000000001', 'Dashboard1700000000029');
    await expect(migrate(database.url)).rejects.toThrow('Start the last pre-release once, then this version.');
    await renameBaseline('ApiKeys1700000000001', 'Dashboard1700000000029', 'NoChecksOfTasks1700000000043');
    await migrate(database.url);
    expect((await client.query('select from tasks_live')).rowCount).toBe(0);
  });

  it('moves tasks and webhooks out of their partitions, also when it is killed on the way', async () => {
    await client.query('drop schema public cascade; create schema public');
    const names = MIGRATIONS.map(({ name }) => name);
    await migrateTo(database.url, names.slice(0, names.indexOf(TwoTables1700000000049.name)));
    await client.query(`
      drop table tasks_first;
      create table tasks_a partition of tasks for values from (minvalue) to ('task_b');
      create table tasks_b partition of tasks for values from ('task_b') to ('task_c');
      insert into tasks (id, api_key_id, kind, model, status, input, metadata, created_at, completed_at, deadline_at, expires_at, parked, attempt,
                         lease_until, result, usage, timeline)
      select 'task_' || part || n, 'key_' || n % 3, 'image', 'gpt-image-2', status, json_build_object('prompt', 'b', 'n', n, 'a', 1),
             jsonb_build_object('order', n), now(), case when status = 'succeeded' then now() end, now(), now(), n % 8 = 0, (status = 'running')::int,
             case when status = 'running' then now() end, case when status = 'succeeded' then '[{"z":1,"a":2}]'::json end,
             case when status = 'succeeded' then '{"z":1,"cost_micros":3}'::json end, '[[1,"queued",0,null,null]]'
      from unnest('{a,b,c}'::text[]) as part, generate_series(1, 400) n,
           lateral (select case n % 4 when 0 then 'queued' when 1 then 'running' else 'succeeded' end as status) s;
      insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
      select 'evt_' || n, 'key_1', 'task.completed', 'body', now(), now() from generate_series(1, 50) n;
      insert into processes (id, role, version, host, started_at, last_seen_at, slots, busy)
      values ('before', 'all', '0.1.0', 'host', now(), now() - interval '12 seconds', 1, 0)`);
    const sums = async () => {
      const sum = await client.query(`
        select status, count(*)::int as tasks, md5(string_agg(t::text, '|' order by id)) as sum from (
          select id, api_key_id, status, input::text, metadata, created_at, completed_at, expires_at, parked, attempt, lease_until, result::text,
                 usage::text, timeline from tasks) t
        group by status order by status`);
      return sum.rows;
    };
    const before = await sums();

    const rows = await LockedRows.by(database.url, 'lock table tasks_b in access share mode');
    const { env, dataDir } = await testEnv(database.url, { MIGRATE: 'only' });
    const killed = launchService(env);
    await eventually('the first partition to be gone', async () => {
      if (killed.child.exitCode !== null) throw new Error(`The migration has ended:\n${killed.output()}`);
      return (await client.query(`select from pg_class where relname = 'tasks_a'`)).rowCount === 0;
    });
    await killed.kill('SIGKILL');
    expect((await client.query('select from tasks_done')).rowCount).toBe(200);
    // The connection of the killed process may still wait for the second partition, and drop it now.
    const resumed = migrate(database.url);
    await Promise.all([rows.release(), resumed]);
    expect(await sums()).toEqual(before);
    const { rows: counts } = await client.query(
      `select count(*) filter (where waits)::int as waiting, count(*)::int as live, (select count(*)::int from tasks_done) as done,
              (select count(*)::int from webhook_events) as events from tasks_live`,
    );
    expect(counts).toEqual([{ waiting: 150, live: 600, done: 600, events: 50 }]);
    // It has waited for the process that looked alive.
    expect(
      (await client.query(`select from processes where last_seen_at > now() - interval '15 seconds'`)).rowCount,
    ).toBe(0);
    await rm(dataDir, { recursive: true });
  });

  it('keeps the order of the line', async () => {
    await client.query('drop schema public cascade; create schema public');
    const before = MIGRATIONS.map(({ name }) => name).filter(
      (name) => Number(/\d+$/.exec(name)?.[0]) < 1_700_000_000_051,
    );
    await migrateTo(database.url, before);
    await client.query(
      `insert into key_load (api_key_id, queued, running) values ('key_a', 3, 1), ('key_b', 3, 0), ('key_c', 0, 0)`,
    );
    await client.query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, priority, low, attempt, waits)
       select id, api_key_id, 'image', 'gpt-image-2', case when attempt = 0 then 'queued' else 'running' end, '{}', now(),
              now() + interval '1 day', now() + interval '1 day', priority, low, attempt, attempt = 0
       from (values ('task_1', 'key_a', 1, false, 1), ('task_2', 'key_a', 2, false, 0), ('task_3', 'key_b', 1, false, 0),
                    ('task_4', 'key_b', -11, false, 0), ('task_5', 'key_a', 16401, true, 0), ('task_6', 'key_b', 16389, true, 0),
                    ('task_7', 'key_a', 2, false, 0)) v (id, api_key_id, priority, low, attempt)`,
    );
    const waiting = async (order: string) =>
      (await client.query<{ id: string }>(`select id from tasks_live where waits order by ${order}`)).rows.map(
        ({ id }) => id,
      );
    const order = await waiting('priority, id');
    await migrate(database.url);
    expect(await waiting('low, place, id')).toEqual(order);
    expect(order).toEqual(['task_4', 'task_3', 'task_2', 'task_7', 'task_6', 'task_5']);
    expect((await client.query('select place::int, low_place::int from line')).rows).toEqual([
      { place: 0, low_place: 0 },
    ]);
    const { rows } = await client.query('select api_key_id, place::int, low_place::int from key_load order by 1');
    expect(rows).toEqual([
      { api_key_id: 'key_a', place: 14_000, low_place: 13_000 },
      { api_key_id: 'key_b', place: 13_000, low_place: 1_000 },
      { api_key_id: 'key_c', place: 0, low_place: 0 },
    ]);
  });

  it('changes nothing in a database that is up to date', async () => {
    const before = await done();
    await migrate(database.url);
    expect(await done()).toEqual(before);
  });

  it('gives up after its last try, and says why', async () => {
    expect(await givenUp).toContain('in 3 tries of 2 s, another transaction kept a table locked');
  });
});
