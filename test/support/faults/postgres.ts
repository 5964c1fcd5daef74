import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgresBinaries } from '../../../src/platform/database/embedded/postgres-binaries.ts';
import { choosePostgresUser } from '../../../src/platform/database/embedded/postgres-user.ts';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres.ts';
import { makeGround, removeGround } from '../test-context.ts';

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];

/** A PostgreSQL of the test's own, which it may stop, start again on the same port, and freeze. */
export class FaultPostgres {
  private readonly binaries = findPostgresBinaries();
  private readonly data: string;
  private readonly port: string;

  private constructor(
    private readonly ground: string,
    readonly url: string,
  ) {
    this.data = join(ground, 'data/postgres');
    this.port = new URL(url).port;
  }

  /** Durable, as an operator runs it: `immediate` is a crash. */
  static async start(): Promise<FaultPostgres> {
    const ground = makeGround();
    const { url } = await startEmbeddedPostgres(join(ground, 'data'));
    return new FaultPostgres(ground, url);
  }

  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    await this.user.run(this.binaries.pgCtl, ['stop', '-D', this.data, '-m', mode, '-w', '-t', '30']);
  }

  async startAgain(): Promise<void> {
    const options = [`-p ${this.port}`, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' ');
    const log = join(this.data, 'server.log');
    await this.user.run(this.binaries.pgCtl, ['start', '-D', this.data, '-l', log, '-w', '-t', '30', '-o', options]);
  }

  /** As a line that swallows packets: connections are taken by the kernel, and nothing is answered. */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  async remove(): Promise<void> {
    this.thaw();
    await removeGround(this.ground);
  }

  /** The postmaster first: once it stands still, no child is born that would be missed. */
  private signal(name: NodeJS.Signals): void {
    let postmaster: string;
    try {
      postmaster = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')[0]!;
    } catch {
      return; // it is down
    }
    process.kill(Number(postmaster), name);
    for (const pid of childrenOf(postmaster)) {
      try {
        process.kill(pid, name);
      } catch {
        // A backend that has ended since.
      }
    }
  }

  private get user() {
    return choosePostgresUser(join(this.ground, 'data'), this.data, this.binaries);
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
