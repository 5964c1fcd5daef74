import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT_FOLDER } from '../../src/platform/config/root-folder.ts';
import { freePort } from '../support/free-port.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';
import { eventually } from '../support/wait.ts';

describe('npm start', () => {
  let folder: string;
  beforeAll(() => (folder = makeTestFolder()));
  afterAll(() => removeTestFolder(folder));

  const signals: [string, (npm: ChildProcess) => void][] = [
    ['SIGTERM to npm', (npm) => npm.kill('SIGTERM')],
    ['Ctrl-C, which reaches all of its processes', ({ pid }) => process.kill(-pid!, 'SIGINT')],
  ];
  it.each(signals)('stops the service and its database at %s', async (_, stop) => {
    const npm = spawn('npm', ['start'], {
      cwd: ROOT_FOLDER,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: process.env.HOME,
        DATA_DIR: join(folder, 'data'),
        PORT: String(await freePort()),
        LOG_LEVEL: 'silent',
      },
      detached: true, // a process group of its own
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = once(npm, 'exit');
    try {
      await eventually('the service to be ready', async () => output.includes('Darkroom is ready'));
      stop(npm);
      expect(await ended).toEqual([0, null]);
    } finally {
      if (npm.exitCode === null) process.kill(-npm.pid!, 'SIGKILL');
    }
    const pidFile = join(folder, 'data/postgres/postmaster.pid');
    expect(existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toBe(false);
  });
});
