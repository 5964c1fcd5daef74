import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { queryOnce } from '../faults/watch.ts';
import { freePort } from '../free-port.ts';
import { makeTestFolder } from '../test-context.ts';
import { eventually } from '../wait.ts';
import { postgresPrograms } from './postgres-pair.ts';

const CONFIGURATION = new URL('../../../deploy/patroni/patroni.yml', import.meta.url);
const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];

/**
 * The times of the file, shortened: Patroni looks more often, and a primary gives up after the shortest time that
 * Patroni allows.
 */
const FASTER = { ttl: 20, loop_wait: 1, retry_timeout: 3 };
/** The limit for the start. On a busy machine, copying two servers takes long. */
const START_MS = 120_000;

/** PostgreSQL refuses to run as root, so as root the user `nobody` runs it. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The state of a standby: `running` in Patroni 3, `streaming` in Patroni 4. */
const STREAMING = ['running', 'streaming'];

interface Configuration {
  name: string;
  restapi: Record<string, string>;
  etcd3: { hosts: string[] };
  bootstrap: { dcs: Record<string, unknown> & { postgresql: { parameters: Record<string, unknown> } } };
  postgresql: Record<string, unknown> & {
    authentication: { superuser: { username: string; password: string } };
    pg_hba: string[];
  };
  watchdog: { mode: string };
}

/** A member as in Patroni's `GET /cluster`. */
interface Member {
  name: Name;
  role: string;
  state: string;
}

/**
 * Three PostgreSQL servers of deploy/patroni/patroni.yml on one machine, with one etcd. Patroni creates and promotes
 * them.
 */
export class PatroniCluster {
  private readonly folder = makeTestFolder();
  private readonly ports = new Map<Name, number>();
  private readonly rests = new Map<Name, string>();
  private readonly agents = new Map<Name, ChildProcess>();
  private readonly shared: Configuration = load(readFileSync(CONFIGURATION, 'utf8')) as Configuration;
  private etcd: ChildProcess | undefined;

  static async start(): Promise<PatroniCluster> {
    const cluster = new PatroniCluster();
    try {
      await cluster.startEtcd();
      for (const name of NAMES) {
        cluster.ports.set(name, await freePort());
        cluster.rests.set(name, `127.0.0.1:${await freePort()}`);
      }
      cluster.startAgent('a');
      await eventually('the first primary', async () => (await cluster.primary()) === 'a', START_MS);
      await cluster.makeDatabase();
      for (const name of ['b', 'c'] as const) cluster.startAgent(name);
      await eventually('both standbys', async () => (await cluster.standbys()).length === 2, START_MS);
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  /** A connection string that names all servers. */
  get url(): string {
    const hosts = NAMES.map((name) => `127.0.0.1:${this.ports.get(name)}`).join(',');
    return `postgres://darkroom:secret@${hosts}/darkroom?target_session_attrs=read-write`;
  }

  /** Queries one server as its superuser. */
  query<Row>(name: Name, statement: string): Promise<Row[]> {
    return queryOnce<Row>(this.superuserUrl(name, 'darkroom'), statement);
  }

  async primary(): Promise<Name | null> {
    return (await this.members()).find(({ role, state }) => role === 'leader' && state === 'running')?.name ?? null;
  }

  /** The standbys that stream, once one of them is synchronous. */
  async standbys(): Promise<Name[]> {
    const members = await this.members();
    if (!members.some(({ role }) => role === 'sync_standby')) return [];
    return members.filter(({ role, state }) => role !== 'leader' && STREAMING.includes(state)).map(({ name }) => name);
  }

  /** Asks Patroni to change the primary. */
  async switchOver(): Promise<void> {
    const primary = (await this.primary())!;
    const body = JSON.stringify({ leader: primary });
    const { ok, status } = await fetch(`http://${this.rests.get(primary)}/switchover`, { method: 'POST', body });
    if (!ok) throw new Error(`Patroni answers ${status}.`);
  }

  /** Kills the server and its Patroni at once, as when the machine loses power. */
  async kill(name: Name): Promise<void> {
    const agent = this.agents.get(name)!;
    const pids = [agent.pid!, ...this.postmaster(name)];
    const ended = once(agent, 'exit');
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await ended;
    this.agents.delete(name);
  }

  /**
   * Stops the Patroni of a server. The server still answers, because nobody can tell it that it is no longer the
   * primary.
   */
  freezeAgent(name: Name): void {
    this.agents.get(name)!.kill('SIGSTOP');
  }

  thawAgent(name: Name): void {
    this.agents.get(name)!.kill('SIGCONT');
  }

  startAgent(name: Name): void {
    const folder = join(this.folder, name);
    makeFolder(folder);
    writeFileSync(join(folder, 'patroni.yml'), dump(this.configurationOf(name, folder)));
    const log = openSync(join(folder, 'patroni.log'), 'a');
    const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: folder };
    this.agents.set(
      name,
      spawn('patroni', [join(folder, 'patroni.yml')], { cwd: folder, env, stdio: ['ignore', log, log], ...USER }),
    );
  }

  async remove(): Promise<void> {
    for (const name of this.agents.keys()) {
      this.thawAgent(name);
      await this.kill(name);
    }
    for (const name of NAMES) for (const pid of this.postmaster(name)) process.kill(pid, 'SIGKILL');
    if (this.etcd) {
      this.etcd.kill('SIGKILL');
      await once(this.etcd, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async startEtcd(): Promise<void> {
    const [client, peer] = [await freePort(), await freePort()];
    this.shared.etcd3.hosts = [`127.0.0.1:${client}`];
    const urls = { client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` };
    const args = {
      'data-dir': join(this.folder, 'etcd'),
      'log-level': 'error',
      'listen-client-urls': urls.client,
      'advertise-client-urls': urls.client,
      'listen-peer-urls': urls.peer,
      'initial-advertise-peer-urls': urls.peer,
      'initial-cluster': `default=${urls.peer}`,
    };
    const flags = Object.entries(args).map(([name, value]) => `--${name}=${value}`);
    this.etcd = spawn('etcd', [...flags, '--unsafe-no-fsync'], { stdio: 'ignore' });
    await eventually(
      'etcd',
      async () => (await fetch(`${urls.client}/health`).catch(() => null))?.ok === true,
      START_MS,
    );
  }

  private configurationOf(name: Name, folder: string): Configuration {
    const configuration = structuredClone(this.shared);
    const address = `127.0.0.1:${this.ports.get(name)}`;
    const rest = this.rests.get(name)!;
    const { bootstrap, postgresql } = configuration;
    return {
      ...configuration,
      name,
      restapi: { listen: rest, connect_address: rest },
      bootstrap: { ...bootstrap, dcs: { ...bootstrap.dcs, ...FASTER } },
      postgresql: {
        ...postgresql,
        listen: address,
        connect_address: address,
        data_dir: join(folder, 'data'),
        bin_dir: postgresPrograms!,
        parameters: { unix_socket_directories: folder },
        pg_hba: postgresql.pg_hba.map((line) => line.replace('10.0.0.0/8', '127.0.0.0/8')),
      },
      watchdog: { mode: 'off' },
    };
  }

  private async makeDatabase(): Promise<void> {
    const url = this.superuserUrl('a', 'postgres');
    await queryOnce(url, `create role darkroom login password 'secret' in role pg_monitor`);
    await queryOnce(url, 'create database darkroom owner darkroom');
  }

  private superuserUrl(name: Name, database: string): string {
    const { username, password } = this.shared.postgresql.authentication.superuser;
    return `postgres://${username}:${password}@127.0.0.1:${this.ports.get(name)}/${database}`;
  }

  private postmaster(name: Name): number[] {
    try {
      const pid = Number.parseInt(readFileSync(join(this.folder, name, 'data/postmaster.pid'), 'utf8'));
      return isPostgres(pid) ? [pid] : [];
    } catch {
      return [];
    }
  }

  /** The members, from the first Patroni that answers. A stopped Patroni does not answer. */
  private async members(): Promise<Member[]> {
    for (const rest of this.rests.values()) {
      const answer = await fetch(`http://${rest}/cluster`, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  }
}

function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid);
}

const isPostgres = (pid: number): boolean => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres');
