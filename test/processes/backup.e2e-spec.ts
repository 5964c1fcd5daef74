import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { createDataDir } from '../../src/platform/database/embedded/embedded-cluster.ts';
import { migrate, migrateTo } from '../../src/platform/database/migrate.ts';
import { BASELINE } from '../../src/platform/database/baseline-names.ts';
import { MIGRATIONS } from '../../src/platform/database/migrations.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, aFailure, aHang, Api } from '../support/clients/api.ts';
import { aPicture, FilesClient, sha256 } from '../support/clients/files.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';

interface Manifest {
  taken_at: string;
  migrations: string[];
  tables: { name: string; rows: number; sha256: string }[];
  files: { count: number; bytes: number } | null;
}

const folder = mkdtempSync(join(tmpdir(), 'backups-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const readManifest = (backup: string) => JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as Manifest;
const fileOf = async (api: Api, taskId: string) => {
  const { body } = await api.get(`/v1/tasks/${taskId}`);
  const { url, sha256: hash } = body.result!.outputs[0]!;
  expect(sha256(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(hash);
  return hash;
};

describe('a backup of a running service with an external database and a bucket', () => {
  let service: OwnService;
  let backup: string;
  let manifest: Manifest;
  let taskId: string;
  let uploadId: string;
  const restored: TestDatabase[] = [];
  const picture = aPicture(30, 20);
  const buckets = join(folder, 'buckets');
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: buckets,
    configureBuckets: ['old', 'new'].map((name) => ({ name, configs: [] })),
  });
  let bucket: (name: string) => Record<string, string>;

  beforeAll(async () => {
    const { port } = await server.run();
    bucket = (name) => ({
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      STORAGE_URL: `s3://${name}?endpoint=http://127.0.0.1:${port}&prefix=room`,
    });
    service = await startOwnService(bucket('old'));
    const { api } = service;
    taskId = (await api.create({ ...aCat, metadata: { note: 'tab\t, backslash \\n, 猫, "quotes"\nand a line' } })).body
      .task_id;
    uploadId = (await new FilesClient(api).upload(await picture, { purpose: 'vision' })).body.id;
    await new WebhookClient(api).endpoint('https://customer.example/hook');
    await api.create(aHang);
    await api.untilFinal(taskId);
    backup = join(folder, 'external');
    // Tasks come and end meanwhile: what the copy says of them must still agree.
    const copied = new AbortController();
    const load = (async () => {
      while (!copied.signal.aborted) await Promise.all(Array.from({ length: 20 }, () => api.create(aFailure)));
    })();
    const run = await darkroom(['backup', backup, '--json'], service.env);
    copied.abort();
    await load;
    expect(run).toMatchObject({ code: 0, err: '' });
    manifest = JSON.parse(run.out) as Manifest;
  });
  afterAll(async () => {
    await service.close();
    for (const database of restored) await database.drop();
    await server.close();
  });

  const target = async (settings: Record<string, string> = {}) => {
    const database = await emptyDatabase();
    restored.push(database);
    return testEnv(database.url, { BOOTSTRAP_API_KEY: service.env.BOOTSTRAP_API_KEY as string, ...settings });
  };

  it('holds every row, once, and is readable by its owner only', async () => {
    expect(readManifest(backup)).toEqual(manifest);
    expect(manifest.migrations).toEqual(MIGRATIONS.map(({ name }) => name));
    const names = await queryOnce<{ name: string }>(
      service.database.url,
      `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
        and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'`,
    );
    expect(manifest.tables.map(({ name }) => name).toSorted()).toEqual(names.map(({ name }) => name).toSorted());
    expect(manifest.files).toMatchObject({ count: 2 });
    for (const path of ['.', 'tables', 'files']) expect(statSync(join(backup, path)).mode & 0o077).toBe(0);
    for (const name of ['manifest.json', 'tables/tasks_done.copy', 'files.ndjson']) {
      expect(statSync(join(backup, name)).mode & 0o077).toBe(0);
    }
  });

  it('becomes the same service elsewhere, with another bucket', async () => {
    const { env } = await target(bucket('new'));
    const run = await darkroom(['restore', backup], env);
    expect(run).toEqual({
      code: 0,
      out: '',
      err: expect.stringMatching(/^\d+ rows of \d+ tables and 2 files [^\n]* are restored\.\n.*RESTORED_FROM=.*\n$/),
    });

    expect(objects('new')).toEqual(objects('old'));
    expect(objects('new')).toHaveLength(1);

    const again = join(folder, 'again');
    await darkroom(['backup', again], env);
    expect(readManifest(again).tables).toEqual(manifest.tables);
    const [counts] = await queryOnce<{ load: number; tasks: number }>(
      env.DATABASE_URL as string,
      `select (select sum(queued + running)::int from key_load) as load,
        (select count(*)::int from tasks where completed_at is null) as tasks`,
    );
    expect(counts!.load).toBe(counts!.tasks);

    const copy = await startOwnService(env, restored.at(-1));
    try {
      const api = new Api(copy.baseUrl, service.api.key);
      const original = (await service.api.get(`/v1/tasks/${taskId}`)).body;
      const { result: _, ...shown } = (await api.get(`/v1/tasks/${taskId}`)).body;
      expect(original).toMatchObject(shown);
      expect(await fileOf(api, taskId)).toBe(original.result!.outputs[0]!.sha256);
      const upload = await new FilesClient(api).content(uploadId);
      expect(sha256(Buffer.from(await upload.arrayBuffer()))).toBe(sha256(await picture));
      expect((await api.get<{ data: unknown[] }>('/v1/webhook_endpoints')).body.data).toHaveLength(1);
    } finally {
      await copy.close();
    }
  });

  /** The files of the task, as the test server keeps them. */
  const objects = (name: string) =>
    readdirSync(join(buckets, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.includes(taskId) && file.endsWith('_object'))
      .map((file) => [file, sha256(readFileSync(join(buckets, name, file)))]);

  it('is refused where it would do harm, with the reason, and nothing is written', async () => {
    const { env } = await target();
    const refused = async (changes: Record<string, string>, source = backup) => {
      const { code, err } = await darkroom(['restore', source], { ...env, ...changes });
      expect(code).toBe(1);
      const tables = await queryOnce(env.DATABASE_URL as string, `select from pg_class where relname = 'tasks'`);
      expect(tables).toEqual([]);
      return err;
    };
    const changed = (name: string, change: (copy: string) => void) => {
      const copy = join(folder, name);
      cpSync(backup, copy, { recursive: true });
      change(copy);
      return copy;
    };
    const withManifest = (name: string, changes: object) =>
      changed(name, (copy) =>
        writeFileSync(join(copy, 'manifest.json'), JSON.stringify({ ...readManifest(copy), ...changes })),
      );

    const cut = changed('cut', (copy) => appendFileSync(join(copy, 'tables/tasks_done.copy'), 'x'));
    const otherFile = changed('other-file', (copy) => {
      const name = readdirSync(join(copy, 'files', taskId))[0]!;
      appendFileSync(join(copy, 'files', taskId, name), 'x');
    });
    const newer = withManifest('newer', { version: '9.0.0', migrations: ['Later1900000000099'] });
    const reasons = await Promise.all([
      refused({ DATABASE_URL: service.database.url }),
      refused({ SECRET_KEY: 'ab'.repeat(32) }),
      refused({}, newer),
      refused({}, join(folder, 'none')),
      refused({}, cut),
      refused({}, otherFile),
    ]);
    expect(reasons).toEqual([
      expect.stringMatching(/The database is not empty: .*tasks.* have rows/),
      expect.stringContaining('SECRET_KEY is not the one of the backup'),
      expect.stringContaining('of a newer version, 9.0.0: this program does not know its migration Later1900000000099'),
      expect.stringContaining('it is no backup, or one that was interrupted'),
      expect.stringMatching(/tasks_done\.copy is damaged/),
      expect.stringMatching(/files\/task_.* is damaged/),
    ]);
    const marker = join(env.DATA_DIR as string, 'files/_marker');
    mkdirSync(marker, { recursive: true });
    writeFileSync(join(marker, 'id'), 'of another installation');
    expect(await refused({})).toContain('The storage belongs to another database');
    expect((await darkroom(['backup', backup], service.env)).err).toContain('is not empty');
  });

  it('can be restored again after an interruption, and without files where these have a backup of their own', async () => {
    const path = join(folder, 'rows');
    expect((await darkroom(['backup', path, '--no-files'], service.env)).code).toBe(0);
    expect(readManifest(path).files).toBeNull();
    const { env } = await target();
    await migrateTo(env.DATABASE_URL as string, manifest.migrations); // as far as a killed restore came
    expect((await darkroom(['restore', path], env)).code).toBe(0);
    expect((await darkroom(['restore', path], env)).err).toContain('The database is not empty');
  });
});

it('a backup of an earlier version gets the migrations that it lacks, and keeps its rows', async () => {
  const [old, fresh] = [await emptyDatabase(), await emptyDatabase()];
  try {
    const earlier = [BASELINE];
    await migrateTo(old.url, earlier);
    await queryOnce(old.url, `insert into run_times (model, resolution, n, run_ms) values ('m', '1K', 1, '{5,7}')`);
    await queryOnce(
      old.url,
      `insert into tasks (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, parked)
       select 'task_' || status, 'key_a', 'image', 'gpt-image-2', status, '{"b":1,"a":2}', now(), case when status = 'failed' then now() end, now(), now(), false
       from unnest('{queued,running,failed}'::text[]) as status`,
    );
    const { env } = await testEnv(old.url);
    const path = join(folder, 'earlier');
    expect(await darkroom(['backup', path], env)).toMatchObject({ code: 0 });
    expect(readManifest(path).migrations).toEqual(earlier);
    expect((await darkroom(['restore', path], (await testEnv(fresh.url)).env)).code).toBe(0);
    await migrate(fresh.url);
    expect(await queryOnce(fresh.url, 'select * from run_times')).toMatchObject([{ run_ms: [5, 7], wait_ms: [] }]);
    expect(await queryOnce(fresh.url, 'select id, waits, input::text from tasks_live order by id')).toEqual([
      { id: 'task_queued', waits: true, input: '{"b":1,"a":2}' },
      { id: 'task_running', waits: false, input: '{"b":1,"a":2}' },
    ]);
    expect(await queryOnce(fresh.url, 'select id from tasks_done')).toEqual([{ id: 'task_failed' }]);
    const newer = await testEnv((await emptyDatabase()).url);
    await migrate(newer.env.DATABASE_URL as string);
    expect((await darkroom(['restore', path], newer.env)).err).toContain('The database is newer than the rows');
  } finally {
    await old.drop();
    await fresh.drop();
  }
});

describe('a backup of an installation without settings', () => {
  const services: ServiceProcess[] = [];
  const folders: string[] = [];
  afterAll(async () => {
    for (const service of services) await service.kill('SIGTERM');
    for (const each of folders) await removeTestFolder(each);
  });

  const installation = () => {
    folders.push(makeTestFolder());
    const dataDir = join(folders.at(-1)!, 'data');
    createDataDir(dataDir);
    return dataDir;
  };
  const start = async (env: Record<string, string>) => {
    const port = String(await freePort());
    const service = await spawnService({ ...env, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` });
    services.push(service);
    return service;
  };

  it('has its database, files and, if asked for, its key, whether the service runs or not', async () => {
    const { env: made } = await testEnv('', { DATA_DIR: installation() });
    const { DATABASE_URL: _, SECRET_KEY: __, ...env } = made as Record<string, string>;
    const source = await start(env);
    const { body } = await source.api.create(aCat);
    await source.api.untilFinal(body.task_id);
    const [running, stopped] = [join(folder, 'running'), join(folder, 'stopped')];
    const first = await darkroom(['backup', running, '--with-secret-key'], env);
    expect([first.code, first.err]).toEqual([0, expect.stringContaining('1 files')]);
    await source.kill('SIGTERM');
    const second = await darkroom(['backup', stopped], env);
    expect([second.code, second.err]).toEqual([0, expect.stringContaining('secret-key in another place')]);

    const elsewhere = { ...env, DATA_DIR: installation() };
    expect((await darkroom(['restore', stopped], elsewhere)).err).toContain('There is no secret key');
    expect(await darkroom(['restore', running], elsewhere)).toMatchObject({ code: 0 });
    const copy = await start(elsewhere);
    await fileOf(new Api(copy.api.baseUrl, source.api.key), body.task_id);
  });
});
