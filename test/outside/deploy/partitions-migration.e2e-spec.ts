import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { migrate, migrateTo } from '../../../src/platform/database/migrate.ts';
import { MIGRATIONS } from '../../../src/platform/database/migrations.ts';
import { testEnv } from '../../support/test-env.ts';
import { aCat, type TaskBody } from '../../support/clients/api.ts';
import { emptyDatabase, type TestDatabase } from '../../support/database.ts';
import { spawnService, type ServiceProcess } from '../../support/process.ts';
import { eventually } from '../../support/wait.ts';
import { say } from './tools.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;
const MIGRATION = 'src/platform/database/migrations/0034-task-partitions.ts';
/** Finished tasks that are there before the migration. */
const TASKS = 100_000;

const run = promisify(execFile);
const names = MIGRATIONS.map(({ name }) => name);
const before = names.slice(0, names.indexOf('TaskPartitions1700000000034'));

/** The commit before the migration; null where the history is not there. */
function versionBefore(): string | null {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
    const added = git('log', '--diff-filter=A', '--format=%H', '--', MIGRATION).split('\n').at(-1);
    return added ? git('rev-parse', '--verify', `${added}^1`) : null;
  } catch {
    return null;
  }
}

const commit = versionBefore();
if (commit === null)
  say('SKIPPED the migration to partitions beside the version before: its commit is not in this clone');

(commit === null ? describe.skip : describe)('the version before serves while tasks become partitioned', () => {
  let folder: string;
  let database: TestDatabase;
  let client: Client;
  let old: ServiceProcess;
  let dataDir: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'darkroom-before-'));
    await run('sh', ['-c', `git archive ${commit} | tar -x -C ${folder}`], { cwd: ROOT }); // prettier-ignore
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await run('npm', ['run', 'build'], { cwd: folder });
    database = await emptyDatabase();
    await migrateTo(database.url, before);
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `insert into tasks (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at)
       select 'task_01' || lpad(n::text, 24, '0'), 'key_1', 'image', 'm', 'succeeded', '{}', now(), now(), now(), now() + interval '1 day'
       from generate_series(1, $1::int) n`,
      [TASKS],
    );
    await client.query('alter table tasks set (autovacuum_vacuum_scale_factor = 0.05)');
    const made = await testEnv(database.url, { MIGRATE: 'off' });
    dataDir = made.dataDir;
    old = await spawnService(made.env, join(folder, 'dist', 'main.js'));
  }, 240_000);

  afterAll(async () => {
    await old?.kill('SIGKILL');
    await client?.end();
    await database?.drop();
    for (const each of [folder, dataDir].filter(Boolean)) rmSync(each, { recursive: true, force: true });
  });

  const relation = async (name: string) =>
    (await client.query('select relkind, reloptions from pg_class where oid = to_regclass($1)', [name])).rows[0];

  it('every request is answered, every accepted task ends, and no row is read during the exchange', async () => {
    const accepted: string[] = [];
    let longestMs = 0;
    const over = new AbortController();
    const timed = async <Answer>(request: Promise<Answer>): Promise<Answer> => {
      const begunMs = performance.now();
      const answer = await request;
      longestMs = Math.max(longestMs, performance.now() - begunMs);
      return answer;
    };
    const load = async () => {
      while (!over.signal.aborted) {
        const { status, body } = await timed(old.api.create(aCat));
        const read = await timed(old.api.get(`/v1/tasks/${body.task_id}`));
        const list = await timed(old.api.get('/v1/tasks?limit=5'));
        expect([status, read.status, list.status]).toEqual([201, 200, 200]);
        accepted.push(body.task_id);
      }
    };
    const clients = [load(), load(), load()];
    await sleep(2_000);
    const usualMs = longestMs;
    await client.query('begin; lock table tasks in access share mode'); // as a long query does: the exchange gives way to it
    const migrated = migrate(database.url);
    await sleep(500);
    await client.query('commit');
    await migrated;
    expect((await relation('tasks')).relkind).toBe('p');
    await sleep(2_000);
    over.abort();
    await Promise.all(clients);
    await eventually('every task to end', async () => {
      const ended = await Promise.all(accepted.map((id) => old.api.get<TaskBody>(`/v1/tasks/${id}`)));
      return ended.every(({ body }) => body.status === 'succeeded');
    });
    const { rows } = await client.query('select count(*)::int as n from tasks');
    expect(rows[0].n).toBe(TASKS + accepted.length);
    expect(longestMs - usualMs).toBeLessThan(3_000); // the lock is waited for at most 2 s, and the query above holds it for 0.5
  });

  it('indexes, storage parameters, checks and the rows are those of before', async () => {
    expect(await relation('tasks_first')).toEqual({
      relkind: 'r',
      reloptions: ['fillfactor=80', 'autovacuum_vacuum_scale_factor=0.05'],
    });
    expect(await relation('tasks_rest')).toEqual(await relation('tasks_first'));
    const { rows } = await client.query(
      `select c.relname as name, (select count(*)::int from pg_inherits where inhparent = c.oid) as partitions
       from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'tasks'::regclass and i.indisvalid order by 1`,
    );
    const other = await emptyDatabase();
    const fresh = new Client({ connectionString: other.url });
    await fresh.connect();
    await migrateTo(other.url, before);
    const wanted = await fresh.query(`select indexname as name from pg_indexes where tablename = 'tasks' order by 1`);
    await fresh.end();
    await other.drop();
    const later = ['tasks_errors', 'tasks_facets']; // of migrations after this one
    const expected = [...wanted.rows.map(({ name }) => name as string), ...later].toSorted();
    expect(rows).toEqual(expected.map((name) => ({ name, partitions: 2 })));
    const checks = await client.query(
      `select conname from pg_constraint where conrelid = 'tasks_first'::regclass and conname = 'tasks_before'`,
    );
    expect(checks.rowCount).toBe(0);
    await expect(client.query(`insert into tasks_rest select * from tasks_first limit 1`)).rejects.toThrow(
      /violates partition constraint/,
    );
  });
});

describe('the migration of webhooks to partitions', () => {
  const first = names.slice(0, names.indexOf('WebhookKeys1700000000039'));
  const TABLES = ['webhook_events', 'webhook_dispatches', 'webhook_deliveries'];
  let database: TestDatabase;
  let client: Client;
  beforeEach(async () => {
    database = await emptyDatabase();
    await migrateTo(database.url, first);
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`
      insert into webhook_endpoints (id, api_key_id, url, events, description, secret, secret_hint)
      values ('we_1', 'key_1', 'http://x', '{task.completed}', '', '', '');
      insert into webhook_events (id, api_key_id, task_id, type, body, created_at, expires_at)
      select 'evt_00' || lpad(n::text, 24, '0'), 'key_1', 'task_' || n, 'task.completed', '', now(), now() from generate_series(1, 1000) n;
      insert into webhook_dispatches (event_id, endpoint_id) select id, 'we_1' from webhook_events;
      insert into webhook_deliveries (id, event_id, endpoint_id, event_type, attempt, trigger, attempted_at)
      select 'dlv' || substr(id, 4), id, 'we_1', type, 1, 'scheduled', now() from webhook_events;
      alter table webhook_deliveries set (autovacuum_vacuum_scale_factor = 0.05)`);
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  it.each([
    ['that was not interrupted', ''],
    [
      'while an index was made',
      'create unique index webhook_deliveries_new_key on webhook_deliveries (event_id, endpoint_id, attempt)',
    ],
    [
      'after some checks were made',
      `alter table webhook_events add constraint webhook_events_before check (id < 'evt_01zzzzzzzz') not valid;
       alter table webhook_dispatches add constraint webhook_dispatches_before check (event_id < 'evt_01yyyyyyyy')`,
    ],
    [
      'after some tables were made',
      `create table webhook_events_parted (like webhook_events) partition by range (id);
       create table webhook_events_rest partition of webhook_events_parted default`,
    ],
  ])('keeps rows, keys, indexes and storage parameters: one %s', async (_when, left) => {
    if (left) await client.query(left);
    await migrate(database.url);
    await client.query(
      `delete from schema_migrations where name in ('WebhookKeys1700000000039', 'WebhookPartitions1700000000040')`,
    ); // ended before it was noted
    await migrate(database.url);
    const { rows } = await client.query(
      `
      select t.relname as name, t.relkind as kind, (select count(*)::int from pg_inherits where inhparent = t.oid) as partitions,
             (select array_agg(pg_get_constraintdef(k.oid) order by k.conname) from pg_constraint k where k.conrelid = t.oid and contype in ('p', 'f', 'u')) as keys,
             (select count(*)::int from pg_index i where i.indrelid = t.oid and i.indisvalid) as indexes,
             (select count(*)::int from pg_index i where i.indrelid = (t.relname || '_first')::regclass) as indexes_of_first
      from pg_class t where relname = any($1::text[]) order by 1`,
      [TABLES],
    );
    const endpoint = 'FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE';
    const table = { kind: 'p', partitions: 2 };
    expect(rows).toEqual([
      {
        ...table,
        name: 'webhook_deliveries',
        keys: [endpoint, 'PRIMARY KEY (event_id, endpoint_id, attempt)'],
        indexes: 2,
        indexes_of_first: 2,
      },
      {
        ...table,
        name: 'webhook_dispatches',
        keys: [endpoint, 'PRIMARY KEY (event_id, endpoint_id)'],
        indexes: 4,
        indexes_of_first: 4,
      },
      { ...table, name: 'webhook_events', keys: ['PRIMARY KEY (id)'], indexes: 3, indexes_of_first: 3 },
    ]);
    for (const name of TABLES) expect((await client.query(`select from ${name}_first`)).rowCount).toBe(1000);
    const { rows: options } = await client.query(
      `select reloptions from pg_class where relname in ('webhook_deliveries_first', 'webhook_deliveries_rest')`,
    );
    expect(options).toEqual(
      ['first', 'rest'].map(() => ({ reloptions: ['fillfactor=80', 'autovacuum_vacuum_scale_factor=0.05'] })),
    );
    await client.query(`delete from webhook_endpoints`);
    expect((await client.query('select from webhook_deliveries')).rowCount).toBe(0);
  });
});

describe('a migration to partitions that was interrupted', () => {
  let database: TestDatabase;
  let client: Client;
  beforeEach(async () => {
    database = await emptyDatabase();
    await migrateTo(database.url, before);
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  it.each([
    [
      'before the check was valid',
      `alter table tasks add constraint tasks_before check (id < 'task_01zzzzzzzz') not valid`,
    ],
    ['when its bound is near', `alter table tasks add constraint tasks_before check (id < 'task_0100000000')`],
    [
      'after the new table was made',
      'create table tasks_parted (like tasks) partition by range (id); create table tasks_rest partition of tasks_parted default',
    ],
  ])('is finished by the next start: %s', async (_when, left) => {
    await client.query(left);
    await migrate(database.url);
    const { rows } = await client.query(`select relkind from pg_class where oid = 'tasks'::regclass`);
    expect(rows).toEqual([{ relkind: 'p' }]);
    await client.query(`delete from schema_migrations where name = 'TaskPartitions1700000000034'`); // ended before it was noted
    await migrate(database.url);
  });
});
