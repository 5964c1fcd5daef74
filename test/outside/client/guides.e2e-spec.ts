import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { blocksOf } from '../../../scripts/docs-check/blocks.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';

const root = new URL('../../../', import.meta.url).pathname;
const exec = promisify(execFile);

/** All fenced blocks of a guide in one language, as one program. */
function programOf(guide: string, language: string): string {
  const blocks = blocksOf(root, `docs/guides/${guide}`).filter((block) => block.language === language);
  return blocks.map(({ text }) => text).join('\n');
}

/** A Python with `openai`, or null: `PYTHON=… npm run jest -- test/outside/client/guides`. */
const python = ((name = process.env.PYTHON ?? 'python3') => {
  try {
    execFileSync(name, ['-c', 'import openai'], { stdio: 'ignore' });
    return name;
  } catch {
    return null;
  }
})();

describe('the guides', () => {
  let service: OwnService;
  let folder: string;
  let env: Record<string, string | undefined>;
  beforeAll(async () => {
    service = await startOwnService();
    folder = await mkdtemp(join(tmpdir(), 'guides-'));
    env = { PATH: process.env.PATH, DARKROOM_URL: service.baseUrl, DARKROOM_API_KEY: service.api.key! };
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const saved = async (name: string) => (await readFile(join(folder, name))).subarray(1, 4).toString();

  it('for TypeScript compiles in strict mode and runs', async () => {
    await mkdir(join(folder, 'node_modules/@darkroom'), { recursive: true });
    await symlink(join(root, 'packages/client'), join(folder, 'node_modules/@darkroom/client'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'guide.ts'), programOf('typescript.md', 'ts'));
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
      outDir: 'built',
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['guide.ts'] }));
    const compiled = exec(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
    await compiled.catch(({ stdout }) => expect(stdout).toBe(''));
    const { stdout } = await exec(process.execPath, [join(folder, 'built/guide.js')], { cwd: folder, env });
    const lines = stdout.split('\n');
    expect(lines).toEqual(expect.arrayContaining(['100 %', 'succeeded 100', 'provider_timeout true']));
    expect(lines.filter((line) => line.startsWith('blue task_'))).toHaveLength(1);
    expect(await saved('lighthouse.png')).toBe('PNG');
  });

  (python ? it : it.skip)('for Python runs', async () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const at = new Date();
    const event = '{"type":"task.completed","data":{"result":{"outputs":[{"url":"the link"}]}}}';
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', at, event),
    };
    const received = `receive(${JSON.stringify(event)}.encode(), ${JSON.stringify(headers)}, "${secret}")`;
    await writeFile(join(folder, 'guide.py'), `${programOf('python.md', 'python')}\n${received}\n`);
    const { stdout } = await exec(python!, ['guide.py'], {
      cwd: folder,
      env: { ...env, PYTHONPATH: join(root, 'packages/python/src') },
    });
    expect(stdout.trim().split('\n').at(-1)).toBe('the link');
    expect(await saved('lighthouse.png')).toBe('PNG');
    expect(await saved('bicycle.png')).toBe('PNG');
  });
});
