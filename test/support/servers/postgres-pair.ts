import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, chownSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import { queryOnce } from '../faults/watch.ts';
import { makeTestFolder } from '../test-context.ts';
import { eventually } from '../wait.ts';

/** The folder in which Debian keeps the programs of each version. */
const DEBIAN = '/usr/lib/postgresql';
const NEEDED = ['initdb', 'pg_ctl', 'pg_basebackup'];

/**
 * The folder of this machine's newest PostgreSQL that can make standbys; null without one. The embedded PostgreSQL
 * cannot.
 */
export const postgresPrograms: string | null = findPrograms();

function findPrograms(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => NEEDED.every((name) => existsSync(join(folder, name)))) ?? null;
}

/** PostgreSQL refuses to run as root, so as root the user `nobody` runs it. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=150', 'fsync=off'];

/** A PostgreSQL server with a superuser `darkroom`. */
export class PostgresServer {
  private constructor(
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async in(folder: string): Promise<PostgresServer> {
    const path = join(folder, `server-${readdirSync(folder).length}`);
    mkdirSync(path, { mode: 0o700 });
    if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid);
    return new PostgresServer(path, await freePort());
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `postgres://darkroom@${this.host}/darkroom`;
  }

  /** The name by which its primary knows it as a standby. */
  get standbyName(): string {
    return `standby_${this.port}`;
  }

  private get data(): string {
    return join(this.folder, 'data');
  }

  async create(): Promise<void> {
    await this.run('initdb', ['-D', this.data, '-U', 'darkroom', '--auth=trust', '--no-sync', '--encoding=UTF8']);
    await this.start();
    await queryOnce(this.url.replace(/\/darkroom$/, '/postgres'), 'create database darkroom');
  }

  /** Deletes the data of this server, and makes it a standby of the other server. */
  async copy(primary: PostgresServer): Promise<void> {
    rmSync(this.data, { recursive: true, force: true });
    const from = `host=127.0.0.1 port=${primary.port} user=darkroom application_name=${this.standbyName}`;
    await this.run('pg_basebackup', ['-d', from, '-D', this.data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
    // The copied setting names the standbys of the other server. Without this line the server would wait for them once
    // it is promoted.
    appendFileSync(join(this.data, 'postgresql.auto.conf'), `synchronous_standby_names = ''\n`);
    await this.start();
  }

  async start(): Promise<void> {
    const options = [`-p ${this.port}`, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' ');
    await this.run('pg_ctl', ['start', '-D', this.data, '-l', join(this.folder, 'log'), '-w', '-o', options]);
  }

  /** The mode `immediate` is a crash. */
  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    await this.run('pg_ctl', ['stop', '-D', this.data, '-m', mode, '-w']);
  }

  async promote(): Promise<void> {
    await this.run('pg_ctl', ['promote', '-D', this.data, '-w']);
  }

  async set(name: string, value: string): Promise<void> {
    await queryOnce(this.url, `alter system set ${name} = '${value}'`);
    await queryOnce(this.url, 'select pg_reload_conf()');
  }

  async reset(name: string): Promise<void> {
    await queryOnce(this.url, `alter system reset ${name}`);
    await queryOnce(this.url, 'select pg_reload_conf()');
  }

  query<Row>(statement: string): Promise<Row[]> {
    return queryOnce<Row>(this.url, statement);
  }

  private async run(program: string, args: string[]): Promise<void> {
    const env = { PATH: process.env.PATH, LC_ALL: 'C' };
    await promisify(execFile)(join(postgresPrograms!, program), args, { cwd: this.folder, env, ...USER });
  }
}

/** A primary and a synchronous standby, with streaming replication. */
export class PostgresPair {
  private constructor(
    private readonly folder: string,
    primary: PostgresServer,
    standby: PostgresServer,
  ) {
    this.both = [primary, standby];
    this.primary = primary;
    this.standby = standby;
  }

  readonly both: readonly [PostgresServer, PostgresServer];
  primary: PostgresServer;
  standby: PostgresServer;

  static async start(): Promise<PostgresPair> {
    const folder = makeTestFolder();
    const primary = await PostgresServer.in(folder);
    await primary.create();
    const pair = new PostgresPair(folder, primary, await PostgresServer.in(folder));
    await pair.rejoin();
    return pair;
  }

  /** A connection string that names both servers. */
  get url(): string {
    const hosts = this.both.map(({ host }) => host).join(',');
    return `postgres://darkroom@${hosts}/darkroom?target_session_attrs=read-write`;
  }

  /** Makes the standby the primary. */
  async promote(): Promise<void> {
    await this.standby.promote();
    [this.primary, this.standby] = [this.standby, this.primary];
  }

  /** Makes the other server, which must be down, a synchronous standby again. */
  async rejoin(): Promise<void> {
    await this.standby.copy(this.primary);
    await this.primary.set('synchronous_standby_names', `ANY 1 (${this.standby.standbyName})`);
    const states = `select 1 from pg_stat_replication where sync_state = 'quorum' and state = 'streaming'`;
    await eventually('the synchronous standby', async () => (await this.primary.query(states)).length === 1);
  }

  async remove(): Promise<void> {
    await Promise.all(this.both.map((server) => server.stop('immediate').catch(() => undefined)));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
