import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const built = (path: string) => import(new URL(`../../dist/${path}`, import.meta.url).href);

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

/** One database with any number of processes on it. Run `npm run build` first. */
export class Bench {
  private readonly children: ChildProcess[] = [];
  private readonly folder: string;
  private readonly database: { url: string; leave(): Promise<void> };
  readonly apiKey: string;
  private readonly pids = new Map<string, number>();

  private constructor(folder: string, database: { url: string; leave(): Promise<void> }, apiKey: string) {
    this.folder = folder;
    this.database = database;
    this.apiKey = apiKey;
  }

  static async open(): Promise<Bench> {
    const [{ startEmbeddedPostgres }, { newApiKey }] = await Promise.all([
      built('platform/database/embedded/embedded-postgres.js'),
      built('auth/credentials/api-key-format.js'),
    ]);
    const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
    await chmod(folder, 0o711); // under root the database runs as another user
    return new Bench(folder, await startEmbeddedPostgres(join(folder, 'data')), newApiKey());
  }

  get databaseUrl(): string {
    return this.database.url;
  }

  /** DATA_DIR of the processes. */
  get dataDir(): string {
    return join(this.folder, 'files');
  }

  get databasePid(): number {
    return Number.parseInt(readFileSync(join(this.folder, 'data/postgres/postmaster.pid'), 'utf8'));
  }

  /** @param url as returned by `service` or `baseline` */
  pidOf(url: string): number {
    return this.pids.get(url) as number;
  }

  /**
   * Starts a build on this database, without limits.
   * @param main dist/main.js of the build, by default that of this clone
   * @returns the URL of the service
   */
  async service(settings: Record<string, string> = {}, main = MAIN): Promise<string> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const child = spawn(process.execPath, [main], {
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        PUBLIC_URL: url,
        DATABASE_URL: this.database.url,
        DATA_DIR: this.dataDir,
        SECRET_KEY: '0'.repeat(64),
        BOOTSTRAP_API_KEY: this.apiKey,
        LOG_LEVEL: 'warn',
        RATE_CREATE_PER_MIN: '0',
        RATE_READ_PER_MIN: '0',
        MAX_QUEUED_PER_KEY: '0',
        MAX_RUNNING_PER_KEY: '0',
        ...settings,
      },
    });
    this.children.push(child);
    this.pids.set(url, child.pid as number);
    while (
      !(await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (child.exitCode !== null) throw new Error('The service did not start.');
      await sleep(50);
    }
    return url;
  }

  /** Starts a file of benchmarks/baseline/ on the same database, with further arguments. @returns its URL */
  async baseline(file = 'server', ...rest: string[]): Promise<string> {
    const port = await freePort();
    const child = fork(new URL(`../baseline/${file}.ts`, import.meta.url), [String(port), this.database.url, ...rest]);
    this.children.push(child);
    await once(child, 'message');
    const url = `http://127.0.0.1:${port}`;
    this.pids.set(url, child.pid as number);
    return url;
  }

  async close(): Promise<void> {
    for (const child of this.children) {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    await this.database.leave();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 }); // with a million rows it failed with ENOTEMPTY
  }
}
