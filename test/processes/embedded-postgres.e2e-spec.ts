import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';

const SOURCE = fileURLToPath(new URL('../../src/platform/database/embedded/embedded-postgres.ts', import.meta.url));

describe('the embedded PostgreSQL', () => {
  let folder: string;
  let dataDir: string;
  const children: ChildProcess[] = [];

  beforeAll(() => {
    folder = makeTestFolder();
    dataDir = join(folder, 'data');
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => removeTestFolder(folder));

  const pidFile = () => join(dataDir, 'postgres/postmaster.pid');
  const serverPid = () => Number(readFileSync(pidFile(), 'utf8').split('\n')[0]);

  async function ask<Row>(url: string, statement: string): Promise<Row[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(statement)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Starts a process that leads its own process group. It ends when its stdin ends. */
  async function neighbour(): Promise<{ child: ChildProcess; url: string }> {
    const script = `
      const { startEmbeddedPostgres } = await import(${JSON.stringify(SOURCE)});
      const db = await startEmbeddedPostgres(${JSON.stringify(dataDir)});
      console.log(db.url);
      process.stdin.resume().on('end', () => db.leave());`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    const [first] = (await once(child.stdout!, 'data')) as [Buffer];
    return { child, url: first.toString().trim() };
  }

  it('is created at the first start: durable, in UTF-8, with a role that is not a superuser', async () => {
    const { url, leave } = await startEmbeddedPostgres(dataDir);
    const [row] = await ask(
      url,
      `select current_setting('fsync') as fsync, current_setting('server_encoding') as encoding,
              current_setting('TimeZone') as zone, current_setting('listen_addresses') as listens,
              (select rolsuper from pg_roles where rolname = current_user) as superuser,
              upper('äß') as upper, current_database() as name`,
    );
    expect(row).toEqual({
      fsync: 'on',
      encoding: 'UTF8',
      zone: 'UTC',
      listens: '127.0.0.1',
      superuser: false,
      upper: 'Äß',
      name: 'darkroom',
    });
    expect(statSync(dataDir).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'postgres-password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'postgres.lock')).mode & 0o777).toBe(0o600);
    await expect(ask(url.replace(/:[0-9a-f]+@/, ':wrong@'), 'select 1')).rejects.toThrow('password authentication');
    await expect(ask(url.replace('//darkroom:', '//postgres:'), 'select 1')).rejects.toThrow('no pg_hba.conf entry');
    await leave();
  });

  it('is shared by later starts, stops with the last one, and keeps its data', async () => {
    const first = await startEmbeddedPostgres(dataDir);
    await ask(first.url, 'create table kept as select 42 as answer');
    const second = await startEmbeddedPostgres(dataDir);
    expect(second.url).toBe(first.url);
    await first.leave();
    expect(await ask(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.leave();
    expect(existsSync(pidFile())).toBe(false);

    const third = await startEmbeddedPostgres(dataDir);
    expect(await ask(third.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await third.leave();
  });

  it('is the same for processes that start at the same moment', async () => {
    const [one, other, ours] = await Promise.all([neighbour(), neighbour(), startEmbeddedPostgres(dataDir)]);
    expect(one.url).toBe(ours.url);
    expect(other.url).toBe(ours.url);
    await ours.leave();
    one.child.stdin!.end();
    await once(one.child, 'exit');
    expect(await ask(other.url, 'select 1 as there')).toEqual([{ there: 1 }]);
    other.child.stdin!.end();
    await once(other.child, 'exit');
    expect(existsSync(pidFile())).toBe(false);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'survives %s to a process group, and the next process takes it over',
    async (signal) => {
      const { child, url } = await neighbour();
      process.kill(-child.pid!, signal);
      await once(child, 'exit');
      const { url: again, leave } = await startEmbeddedPostgres(dataDir);
      expect(again).toBe(url);
      await leave();
      expect(existsSync(pidFile())).toBe(false);
    },
  );

  it('starts again after it was killed itself', async () => {
    const before = await startEmbeddedPostgres(dataDir);
    process.kill(serverPid(), 'SIGKILL');
    const after = await startEmbeddedPostgres(dataDir);
    expect(await ask(after.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await before.leave();
    await after.leave();
  });

  it('starts although another program now has its old process id', async () => {
    const before = await startEmbeddedPostgres(dataDir);
    const left = readFileSync(pidFile(), 'utf8');
    await before.leave();
    writeFileSync(pidFile(), left.replace(/^\d+/, String(process.ppid)));
    const after = await startEmbeddedPostgres(dataDir);
    expect(await ask(after.url, 'select 1 as there')).toEqual([{ there: 1 }]);
    await after.leave();
  });

  it('starts over when the first start was interrupted, in a folder that only its owner may enter', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(join(closed, 'data/postgres.new/base'), { recursive: true });
    chmodSync(closed, 0o700);
    const { url, leave } = await startEmbeddedPostgres(join(closed, 'data'));
    expect(await ask(url, 'select 1 as there')).toEqual([{ there: 1 }]);
    await leave();
  });

  it('names the missing file when the password was removed', async () => {
    await (await startEmbeddedPostgres(dataDir)).leave();
    rmSync(join(dataDir, 'postgres-password'));
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow('postgres-password is missing');
  });
});
