import { testEnv } from '../test-env.ts';
import { Api } from '../clients/api.ts';
import { freePort } from '../free-port.ts';
import { launchService, type StartingProcess } from '../process.ts';

export interface Member {
  role: 'api' | 'worker';
  service: StartingProcess;
  env: Record<string, string>;
  isStopped: boolean;
}

/** Settings with which a lost worker is noticed within seconds, and no task runs out of attempts. */
export const SHORT_TIMES = {
  TASK_LEASE_S: '3',
  TASK_HEARTBEAT_S: '0.5',
  TASK_SWEEP_S: '0.5',
  TASK_MAX_ATTEMPTS: '50',
  PROVIDER_POLL_INTERVAL_MS: '150',
};

/** API and worker processes with one database and one data directory. A process that is restarted keeps its port. */
export class FaultFleet {
  readonly members: Member[] = [];
  /** The output of the processes that have ended. */
  readonly outputOfEnded: string[] = [];

  private constructor(private readonly env: Record<string, string>) {}

  static async on(databaseUrl: string, settings: Record<string, string>): Promise<FaultFleet> {
    return new FaultFleet((await testEnv(databaseUrl, settings)).env);
  }

  get key(): string {
    return this.env.BOOTSTRAP_API_KEY as string;
  }

  get dataDir(): string {
    return this.env.DATA_DIR as string;
  }

  get apis(): Member[] {
    return this.members.filter(({ role }) => role === 'api');
  }

  get workers(): Member[] {
    return this.members.filter(({ role }) => role === 'worker');
  }

  async add(role: Member['role'], settings: Record<string, string> = {}): Promise<Member> {
    const port = String(await freePort());
    const env = { ...this.env, ROLE: role, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, ...settings };
    const member: Member = { role, env, service: launchService(env), isStopped: false };
    this.members.push(member); // added before the process is ready, so that `end` ends it even if another process fails to start
    await member.service.untilReady();
    return member;
  }

  /** Ends the process with the signal, and starts it again on the same port. */
  async restart(member: Member, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await member.service.kill(signal);
    this.outputOfEnded.push(member.service.output());
    member.service = launchService(member.env);
    await member.service.untilReady();
    member.isStopped = false;
  }

  pause(member: Member): void {
    member.service.child.kill('SIGSTOP');
    member.isStopped = true;
  }

  resume(member: Member): void {
    member.service.child.kill('SIGCONT');
    member.isStopped = false;
  }

  async end(): Promise<void> {
    await Promise.all(this.members.splice(0).map(({ service }) => service.kill('SIGKILL')));
  }

  /** The output of all processes, also of those that have ended. */
  output(): string {
    return [...this.outputOfEnded, ...this.members.map(({ service }) => service.output())].join('\n');
  }

  /** A client of this process, with the bootstrap key unless another is given. */
  clientOf(member: Member, key = this.key): Api {
    return new Api(member.env.PUBLIC_URL as string, key);
  }
}
