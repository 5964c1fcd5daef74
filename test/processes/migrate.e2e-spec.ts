import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { migrate, migrateTo } from '../../src/platform/database/migrate.ts';
import { MIGRATIONS } from '../../src/platform/database/migrations.ts';
import { noteOldestPrograms } from '../../src/platform/database/oldest-program.ts';
import { testEnv } from '../support/test-env.ts';
import { LockedRows } from '../support/faults/locked-rows.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../support/database.ts';
import { spawnService } from '../support/process.ts';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

describe('migrate', () => {
  let database: TestDatabase;
  let client: Client;

  /** The error of a migration that never gets its table. It takes half a minute, beside the other tests. */
  let givenUp: Promise<string>;
  beforeAll(async () => {
    const locked = await emptyDatabase();
    const names = MIGRATIONS.map(({ name }) => name);
    await migrateTo(locked.url, names.slice(0, names.indexOf('Dashboard1700000000029')));
    const rows = await LockedRows.by(locked.url, 'lock table webhook_deliveries in access share mode');
    givenUp = migrate(locked.url).then(
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
    const names = MIGRATIONS.map(({ name }) => name);
    await client.query('drop schema public cascade; create schema public');
    await migrateTo(database.url, names.slice(0, names.indexOf('Dashboard1700000000029')));
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    try {
      await client.query('begin; lock table webhook_deliveries in access share mode'); // as a long query does
      let isOver = false;
      const migrated = migrate(database.url).finally(() => (isOver = true));
      let longestMs = 0;
      // Twice the migration is in front of the reader, and lets it pass.
      for (let waits = 0; waits < 2;) {
        const begunMs = performance.now();
        await reader.query('select from webhook_deliveries');
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

  it('changes nothing in a database that is up to date', async () => {
    const before = await done();
    await migrate(database.url);
    expect(await done()).toEqual(before);
  });

  it('gives up after ten tries, and says why', async () => {
    expect(await givenUp).toContain('in 10 tries of 2 s, another transaction kept a table locked');
  });
});
