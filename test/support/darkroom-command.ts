import { execFile } from 'node:child_process';

const COMMAND = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;

export interface CommandRun {
  code: number;
  out: string;
  err: string;
}

/** Runs the built command as an operator does: with the environment of the service, in its DATA_DIR. */
export const darkroom = (args: string[], env: Record<string, string>): Promise<CommandRun> =>
  new Promise((resolve) => {
    const variables = { PATH: process.env.PATH, HOME: process.env.HOME, ...env };
    execFile(process.execPath, [COMMAND, ...args], { env: variables, maxBuffer: 1e9 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
