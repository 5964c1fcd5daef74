import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Api } from './clients/api.ts';
import { programEnv } from './test-env.ts';
import { eventually } from './wait.ts';

/** The built program as a separate process, as an operator runs it. A test may kill it. */
export interface ServiceProcess {
  child: ChildProcess;
  api: Api;
  /** What the process has written so far to stdout and stderr. */
  output(): string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * The limit for the start, which takes two seconds on an idle machine, and a minute under twenty times that machine's
 * load.
 */
const START_MS = 240_000;

/** The built program, as `npm start` and the container run it. */
export const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

/** A process that may not be ready yet. */
export interface StartingProcess extends ServiceProcess {
  /**
   * Waits until the process prints that it is ready. If it does not, it is killed, because the caller may have no
   * handle to it.
   */
  untilReady(): Promise<void>;
}

/** Starts the built program and waits until it prints that it is ready. @param main dist/main.js of another build */
export async function spawnService(env: Record<string, string>, main = MAIN): Promise<ServiceProcess> {
  const service = launchService(env, main);
  await service.untilReady();
  return service;
}

/**
 * Waits until all processes are ready. If one fails, the others are killed, because the caller has no handle to them.
 */
export async function allReady<Processes extends readonly ServiceProcess[]>(
  starts: readonly [...{ [Nth in keyof Processes]: Promise<Processes[Nth]> }],
): Promise<Processes> {
  const ends = await Promise.allSettled(starts);
  const failure = ends.find(({ status }) => status === 'rejected');
  if (!failure) return Promise.all(starts) as unknown as Promise<Processes>;
  await Promise.all(ends.map(async (end) => end.status === 'fulfilled' && end.value.kill('SIGKILL')));
  throw (failure as PromiseRejectedResult).reason;
}

/** Signals with which a crashed process ends. Its output then explains the failure. */
const CRASHES: ReadonlySet<NodeJS.Signals> = new Set(['SIGABRT', 'SIGBUS', 'SIGILL', 'SIGSEGV', 'SIGTRAP']);

export function launchService(env: Record<string, string>, main = MAIN): StartingProcess {
  const child = spawn(process.execPath, [main], {
    env: { ...programEnv(), ...env },
    cwd: env.DATA_DIR,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit');
  child.once('exit', (_code, signal) => {
    if (signal !== null && CRASHES.has(signal)) process.stderr.write(`A service crashed:\n${output.slice(-4_000)}\n`);
  });

  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await ended;
    }
  };
  const isReady = async (): Promise<boolean> => {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`It ended with ${end}:\n${output}`);
    return output.includes('Darkroom is ready');
  };

  return {
    child,
    api: new Api(env.PUBLIC_URL as string, env.BOOTSTRAP_API_KEY as string),
    output: () => output,
    kill,
    untilReady: async () => {
      await eventually('the service to start', isReady, START_MS).catch(async (error: unknown) => {
        await kill('SIGKILL');
        throw error;
      });
    },
  };
}
