import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { badProxy, type Fault } from './support/bad-proxy.ts';
import { execute, fromPyPi, itWith } from './support/tools.ts';

const root = new URL('../../../', import.meta.url).pathname;
/** 3.10 or newer: `PYTHON=… npm run jest -- test/outside/client/python-package`. */
const python = process.env.PYTHON ?? 'python3';
const mypy = fromPyPi(python, 'mypy', '2.4.1');

describe('the Python package in a fresh environment', () => {
  let service: OwnService;
  let folder: string;
  let wheel: string;
  beforeAll(async () => {
    service = await startOwnService({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', OUTBOUND_ALLOW_HTTP: 'true' });
    folder = await mkdtemp(join(tmpdir(), 'python-package-'));
    await cp(join(root, 'test/outside/client/python'), folder, { recursive: true });
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    wheel = `${service.baseUrl}/python/darkroom_client-${version}-py3-none-any.whl`;
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  let made: Promise<string> | undefined;
  /** With the wheel of the running service, and nothing from an index. */
  const environment = (): Promise<string> => (made ??= makeEnvironment());
  async function makeEnvironment(): Promise<string> {
    const venv = join(folder, 'venv');
    await execute(python, ['-m', 'venv', venv], folder);
    await execute(join(venv, 'bin/pip'), ['install', '--quiet', '--no-index', wheel], folder);
    return join(venv, 'bin/python');
  }

  async function run(url: string, ...parts: string[]): Promise<string[]> {
    const env = { DARKROOM_URL: url, DARKROOM_API_KEY: service.api.key! };
    const output = await execute(await environment(), ['program.py', ...parts], folder, env);
    return output.trim().split('\n');
  }

  itWith([python], 'makes, reads, cancels, follows, downloads and verifies', async () => {
    const parts = ['pictures', 'ends', 'refusals', 'everything', 'webhooks'];
    expect(await run(service.baseUrl, ...parts)).toEqual([
      'same task True',
      'last state succeeded',
      'saved True',
      'bytes True',
      'listed True',
      'read succeeded',
      'variant low',
      'goes on True',
      'cancelled task_cancelled',
      'failed provider_timeout True True',
      'deleted True',
      'refused 400 value_out_of_range n True',
      'missing task_not_found',
      'watched succeeded',
      'forged No signature of the event is by one of the secrets.',
      'event image/png',
    ]);
  });

  for (const fault of ['cuts streams', 'refuses streams', 'buffers streams', 'loses the first answer'] as Fault[]) {
    itWith([python], `makes one picture behind a proxy that ${fault}`, async () => {
      const proxy = await badProxy(service.baseUrl, fault);
      const count = async () => (await service.api.get<{ data: unknown[] }>('/v1/tasks?limit=100')).body.data.length;
      const before = await count();
      try {
        expect(await run(proxy.url, 'one')).toEqual(['succeeded']);
        expect(proxy.hit()).toBeGreaterThan(0);
        expect(await count()).toBe(before + 1);
      } finally {
        await proxy.close();
      }
    });
  }

  itWith([python, mypy], 'has types that mypy takes in strict mode, the program with them', async () => {
    const interpreter = ['--python-executable', await environment()];
    const cache = ['--cache-dir', join(folder, 'mypy')];
    await execute(mypy, ['--strict', ...cache, ...interpreter, 'program.py'], folder);
    const source = join(root, 'packages/python');
    await execute(mypy, [...cache, '--config-file', join(source, 'pyproject.toml'), join(source, 'src')], folder);
  });
});
