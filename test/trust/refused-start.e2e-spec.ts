import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';

const MAIN = new URL('../../dist/bundle/main.js', import.meta.url).pathname;

describe('a start that is refused', () => {
  let folder: string;
  beforeEach(() => (folder = makeTestFolder()));
  afterEach(() => removeTestFolder(folder));

  it.each<[string, (settings: Record<string, string>) => void]>([
    [
      'a faulty PROVIDERS file',
      (settings) => writeFileSync((settings.PROVIDERS = join(folder, 'providers.yaml')), 'models: [nonsense'),
    ],
    [
      'a workflow that is missing',
      (settings) => {
        const binding = '{ provider: comfyui, model: ./none.json, base_url: http://127.0.0.1:9 }';
        writeFileSync((settings.PROVIDERS = join(folder, 'providers.yaml')), `models:\n  gpt-image-2: [${binding}]`);
      },
    ],
    ['an address that cannot be listened on', (settings) => (settings.HOST = '192.0.2.1')],
  ])('leaves no embedded PostgreSQL behind: %s', async (_, spoil) => {
    const settings: Record<string, string> = {
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
    };
    spoil(settings);
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = await once(child, 'exit');
    expect([code, output]).toEqual([1, expect.stringContaining('Darkroom did not start')]);
    expect(existsSync(join(folder, 'data/postgres/PG_VERSION'))).toBe(true);
    const pidFile = join(folder, 'data/postgres/postmaster.pid');
    expect(existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toBe(false);
  });
});
