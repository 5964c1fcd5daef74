import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { programEnv } from './test-env.ts';
import { eventually } from './wait.ts';

const COMMAND = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;

/** The limit for a command. It loads the service, which takes long on a busy machine. */
const START_MS = 240_000;

export interface CommandRun {
  code: number;
  out: string;
  err: string;
}

/** Runs the built command as an operator does: with the environment of the service, in its DATA_DIR. */
export const darkroom = (args: string[], env: Record<string, string>): Promise<CommandRun> =>
  new Promise((resolve) => {
    const variables = { ...programEnv(), ...env };
    execFile(process.execPath, [COMMAND, ...args], { env: variables, maxBuffer: 1e9 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });

/** Starts the built command, and kills it as soon as `met` returns true. */
export async function killDarkroomWhen(
  met: () => boolean,
  args: string[],
  env: Record<string, string>,
): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { ...programEnv(), ...env },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  try {
    await eventually('the command to be half way', async () => met(), START_MS);
  } finally {
    child.kill('SIGKILL');
  }
  return (await ended)[1];
}
