import { join } from 'node:path';
import { createDataDir } from '../../src/platform/database/embedded/embedded-cluster.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, aHang } from '../support/clients/api.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';
import { eventually } from '../support/wait.ts';

describe('darkroom move', () => {
  const services: ServiceProcess[] = [];
  let folder: string;
  let database: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = makeTestFolder();
    database = await emptyDatabase();
    const dataDir = join(folder, 'data');
    createDataDir(dataDir);
    const { env: made } = await testEnv('', { DATA_DIR: dataDir, TASK_HEARTBEAT_S: '0.5', TASK_LEASE_S: '2' });
    const { DATABASE_URL: _, SECRET_KEY: __, ...rest } = made as Record<string, string>;
    env = rest;
  });
  afterAll(async () => {
    for (const service of services) await service.kill('SIGTERM');
    await database?.drop();
    await removeTestFolder(folder);
  });

  const start = async (settings: Record<string, string>) => {
    const port = String(await freePort());
    const service = await spawnService({ ...env, ...settings, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` });
    services.push(service);
    return service;
  };

  it('drains the service, copies the embedded database once it is stopped, and says what to set', async () => {
    const before = await start({});
    const { body } = await before.api.create({ ...aCat, metadata: { note: 'kept' } });
    const made = await before.api.untilFinal(body.task_id);
    const { body: hanging } = await before.api.create(aHang);
    await eventually(
      'the task to run',
      async () => (await before.api.get(`/v1/tasks/${hanging.task_id}`)).body.status === 'running',
    );

    const move = darkroom(['move', '--to', database.url], env);
    await eventually('the drain', async () => {
      const { body: ready } = await before.api.get<{ checks: object }>('/v1/operations/processes');
      return JSON.stringify(ready).includes('"state":"drain');
    });
    expect(await queryOnce(database.url, `select from pg_class where relname = 'tasks'`)).toEqual([]);
    await before.api.call('POST', `/v1/tasks/${hanging.task_id}/cancel`);
    const late = (await before.api.create(aHang)).body.task_id; // accepted until the stop, so it must not be lost
    await before.kill('SIGTERM');
    const { code, err } = await move;
    expect([code, err]).toEqual([0, expect.stringMatching(/rows of \d+ tables are the same in both databases/)]);
    expect(err).toMatch(/these processes (?:still finish their tasks|are drained, stop them now): /);
    expect(err).not.toContain(new URL(database.url).password);
    const [, file] = /SECRET_KEY_FILE=(\S+),/.exec(err)!;

    const after = await start({ DATABASE_URL: database.url, SECRET_KEY_FILE: file! });
    const { result: _, ...shown } = made;
    expect((await after.api.get(`/v1/tasks/${body.task_id}`)).body).toMatchObject(shown);
    expect((await after.api.get(`/v1/tasks/${late}`)).status).toBe(200);
    const { url } = (await after.api.get(`/v1/tasks/${body.task_id}`)).body.result!.outputs[0]!;
    expect((await fetch(url)).status).toBe(200);
    // Nothing is deleted.
    expect((await darkroom(['keys', 'list', '--json'], env)).code).toBe(0);
  });

  it('refuses a database with rows and one that was migrated further, and waits no longer than it is told', async () => {
    expect((await darkroom(['move', '--to', database.url], env)).err).toContain('The database is not empty');
    expect((await darkroom(['move', '--to', 'https://x.example'], env)).err).toContain(
      '--to must be an address as DATABASE_URL takes it',
    );
    const other = await emptyDatabase();
    try {
      await start({ DATABASE_URL: '' });
      const { code, err } = await darkroom(['move', '--wait', '1', '--to', other.url], env);
      expect([code, err]).toEqual([1, expect.stringContaining('Nothing was copied: after 1 s')]);
      await migrate(other.url);
      await queryOnce(
        other.url,
        `insert into schema_migrations (timestamp, name) values (1700000000999, 'Later1700000000999')`,
      );
      expect((await darkroom(['move', '--to', other.url], env)).err).toContain(
        'it has the migration Later1700000000999',
      );
    } finally {
      await other.drop();
    }
  });
});
