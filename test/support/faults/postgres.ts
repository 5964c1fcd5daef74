import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgresBinaries } from '../../../src/platform/database/embedded/postgres-binaries.ts';
import { choosePostgresUser } from '../../../src/platform/database/embedded/postgres-user.ts';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres.ts';
import { makeTestFolder, removeTestFolder } from '../test-context.ts';

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];

/** A PostgreSQL server for one test. The test may stop it, start it again on the same port, and freeze it. */
export class FaultPostgres {
  private readonly binaries = findPostgresBinaries();
  private readonly data: string;
  private readonly port: string;

  private constructor(
    private readonly folder: string,
    readonly url: string,
  ) {
    this.data = join(folder, 'data/postgres');
    this.port = new URL(url).port;
  }

  /** Starts a server with durable commits, as operators have it. Stopping it with `immediate` is a crash. */
  static async start(): Promise<FaultPostgres> {
    const folder = makeTestFolder();
    const { url } = await startEmbeddedPostgres(join(folder, 'data'));
    return new FaultPostgres(folder, url);
  }

  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    await this.user.run(this.binaries.pgCtl, ['stop', '-D', this.data, '-m', mode, '-w', '-t', '30']);
  }

  async startAgain(): Promise<void> {
    const options = [`-p ${this.port}`, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' ');
    const log = join(this.data, 'server.log');
    await this.user.run(this.binaries.pgCtl, ['start', '-D', this.data, '-l', log, '-w', '-t', '30', '-o', options]);
  }

  /**
   * Freezes the server, as if the network dropped packets: the kernel accepts connections, but the server does not
   * answer.
   */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  async remove(): Promise<void> {
    this.thaw();
    await removeTestFolder(this.folder);
  }

  /**
   * Signals all processes of the server. The postmaster is first: once it is stopped, it cannot fork a child that the
   * loop would miss.
   */
  private signal(name: NodeJS.Signals): void {
    let postmaster: string;
    try {
      postmaster = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')[0]!;
    } catch {
      return; // the server is down
    }
    process.kill(Number(postmaster), name);
    for (const pid of childrenOf(postmaster)) {
      try {
        process.kill(pid, name);
      } catch {
        // The backend has already ended.
      }
    }
  }

  private get user() {
    return choosePostgresUser(join(this.folder, 'data'), this.data, this.binaries);
  }
}

function childrenOf(pid: string): number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => Number(child));
}
