import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;
const STARTS_WITHIN_MS = 180_000;

/** How a service is started, and how the benchmark sees that the service is ready. */
export interface Program {
  command: string;
  args: string[];
  /** The whole environment. Nothing of this process is added. */
  env: Record<string, string>;
  cwd: string;
  /** The URL that answers 200 once the service is ready. */
  readyUrl: string;
}

export interface Running {
  child: ChildProcess;
  /** Milliseconds from the start of the process until it was ready. */
  startMs: number;
}

/** @throws Error when the process ends before it is ready, or is not ready in time */
export async function start({ command, args, env, cwd, readyUrl }: Program): Promise<Running> {
  const since = performance.now();
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  while (!(await isOk(readyUrl))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${command} did not start.`);
    if (performance.now() - since > STARTS_WITHIN_MS) {
      await stop(child);
      throw new Error(`${command} was not ready in time.`);
    }
    await sleep(POLL_MS);
  }
  return { child, startMs: performance.now() - since };
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const isOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    },
    () => false, // nothing listens yet
  );
