import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT_FOLDER } from '../../src/platform/config/root-folder.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/free-port.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';

describe('npm start', () => {
  let folder: string;
  beforeAll(() => (folder = makeTestFolder()));
  afterAll(() => removeTestFolder(folder));

  /** The keys that each start has printed. */
  const keys: string[][] = [];
  const signals: [string, (npm: ChildProcess) => void][] = [
    ['SIGTERM to npm', (npm) => npm.kill('SIGTERM')],
    ['Ctrl-C, which reaches all of its processes', ({ pid }) => process.kill(-pid!, 'SIGINT')],
  ];
  it.each(signals)('stops the service and its database at %s', async (_, stop) => {
    const port = String(await freePort());
    const npm = spawn('npm', ['start'], {
      cwd: ROOT_FOLDER,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: process.env.HOME,
        DATA_DIR: join(folder, 'data'),
        PORT: port,
        LOG_LEVEL: 'trace',
        PGSSLMODE: 'require', // meant for another server
      },
      detached: true, // a process group of its own
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    const ready = new Promise<void>((resolve) =>
      npm.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Darkroom is ready')) resolve();
      }),
    );
    const ended = once(npm, 'exit');
    try {
      await Promise.race([ready, ended]); // with no pause: the second start is signalled as soon as it says so
      expect(output).toContain('Darkroom is ready');
      const printed = [...new Set(output.match(/dr_\w{46}/g))];
      keys.push(printed);
      for (const key of printed)
        expect((await new Api(`http://127.0.0.1:${port}`, key).get('/v1/models')).status).toBe(200);
      stop(npm);
      expect(await ended).toEqual([0, null]);
      const lines = output.split('\n').filter((line) => printed.some((key) => line.includes(key)));
      for (const line of lines) expect(line).not.toMatch(/^\{/); // the welcome text, never a log line
    } finally {
      if (npm.exitCode === null && npm.signalCode === null) process.kill(-npm.pid!, 'SIGKILL');
    }
    const pidFile = join(folder, 'data/postgres/postmaster.pid');
    expect(existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toBe(false);
  });

  it('prints the first key at the first start, and at no other', () => {
    expect(keys).toEqual([[expect.any(String)], []]);
  });
});
