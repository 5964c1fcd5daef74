import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/free-port.ts';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;
const built = (path: string) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const START_MS = 120_000;
const MAX_FAILED_STARTS = 5;

/** One process of the service. It keeps its name and port over restarts. */
export class Member {
  child: ChildProcess | null = null;
  isExpectedToRun = false;
  /** How often the process ended although nothing had ended it. */
  crashes = 0;
  failedStarts = 0;

  constructor(
    readonly name: string,
    readonly role: 'api' | 'worker',
    readonly port: number,
    private readonly env: Record<string, string>,
    private readonly log: string,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  client(key: string): Api {
    return new Api(this.url, key);
  }

  /** Repeats a start that fails, as a supervisor does: on a busy machine the database may answer too late. */
  async start(): Promise<void> {
    for (let failures = 0; !(await this.tryStart()); this.failedStarts += 1) {
      failures += 1;
      if (failures === MAX_FAILED_STARTS) throw new Error(`${this.name} did not start: ${this.log}`);
    }
    this.isExpectedToRun = true;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.isExpectedToRun = false;
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.end(signal);
    await this.start();
  }

  /** @returns whether it became ready */
  private async tryStart(): Promise<boolean> {
    const env = { ...this.env, ROLE: this.role, PORT: String(this.port), PUBLIC_URL: this.url };
    const child = spawn(process.execPath, [MAIN], { env, cwd: this.env.DATA_DIR, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    const file = createWriteStream(this.log, { flags: 'a' });
    child.stdout.pipe(file, { end: false });
    child.stderr.pipe(file, { end: false });
    child.once('exit', () => {
      file.end();
      if (this.isExpectedToRun) this.crashes += 1;
    });
    for (const deadline = Date.now() + START_MS; Date.now() < deadline; await sleep(200)) {
      if (await this.isReady()) return true;
      if (child.exitCode !== null) return false;
    }
    await this.end('SIGKILL');
    return false;
  }

  private isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

/**
 * A durable PostgreSQL, two API and two worker processes. The faults end only the second process of each role: the first
 * ones live through the whole run, so that growth can show.
 */
export class Deployment {
  readonly members: Member[] = [];

  private constructor(
    private readonly root: string,
    readonly database: { url: string; leave(): Promise<void> },
    readonly key: string,
  ) {}

  static async open(): Promise<Deployment> {
    const { startEmbeddedPostgres } = await built('platform/database/embedded/embedded-postgres.js');
    const { newApiKey } = await built('auth/credentials/api-key-format.js');
    const root = mkdtempSync(join(tmpdir(), 'darkroom-soak-'));
    chmodSync(root, 0o711); // as root the database runs as another user
    mkdirSync(join(root, 'files'));
    return new Deployment(root, await startEmbeddedPostgres(join(root, 'data')), newApiKey());
  }

  get dataDir(): string {
    return join(this.root, 'files');
  }

  async startAll(settings: Record<string, string>, logs: string): Promise<void> {
    const env = {
      PATH: process.env.PATH as string,
      HOME: process.env.HOME as string,
      // As the image sets them: otherwise glibc keeps memory that was freed.
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '131072',
      DATABASE_URL: this.database.url,
      DATA_DIR: this.dataDir,
      SECRET_KEY: '0123456789abcdef'.repeat(4),
      BOOTSTRAP_API_KEY: this.key,
      ...settings,
    };
    for (const name of ['api-1', 'api-2', 'worker-1', 'worker-2']) {
      const role = name.startsWith('api') ? 'api' : 'worker';
      const member = new Member(name, role, await freePort(), env, join(logs, `${name}.log`));
      this.members.push(member);
      await member.start();
    }
  }

  /** @param name such as `api-1` */
  member(name: string): Member {
    return this.members.find((member) => member.name === name)!;
  }

  get apis(): Member[] {
    return this.members.filter(({ role }) => role === 'api');
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end('SIGTERM')));
    await this.database.leave();
    rmSync(this.root, { recursive: true, force: true });
  }
}
