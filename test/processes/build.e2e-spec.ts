import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT_FOLDER } from '../../src/platform/config/root-folder.ts';

const INPUTS = [
  'src',
  'packages',
  'docs',
  'scripts',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  '.swcrc',
  'tsconfig.json',
  'tsconfig.build.json',
];

describe('npm run build', () => {
  let clone: string;
  beforeAll(() => {
    clone = mkdtempSync(join(tmpdir(), 'darkroom-build-'));
    for (const path of [...INPUTS, 'schema.graphql', 'LICENSE'])
      cpSync(ROOT_FOLDER + path, join(clone, path), { recursive: true });
    symlinkSync(`${ROOT_FOLDER}node_modules`, join(clone, 'node_modules'));
  });
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  const build = () => promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: clone });
  /** Whether a build compiles the service. */
  const isCompiled = async (): Promise<boolean> => {
    const writtenMs = (): number => statSync(join(clone, 'dist/main.js')).mtimeMs;
    const before = writtenMs();
    await build();
    return writtenMs() > before;
  };
  const source = (): string => join(clone, 'src/welcome.ts');

  it('builds what is not there, and nothing the next time', async () => {
    await build();
    for (const path of ['main.js', 'dashboard/app/index.html', 'client.tgz', 'python', 'reference/llms.txt']) {
      expect([path, existsSync(join(clone, 'dist', path))]).toEqual([path, true]);
    }
    // A running service loads these modules, so a build that removes them for a moment would break it.
    const ofSandbox = (): number => statSync(join(clone, 'packages/sandbox/dist')).ctimeMs;
    const before = ofSandbox();
    expect(await isCompiled()).toBe(false);
    expect(ofSandbox()).toBe(before);
  });

  it('builds again after a change that has an old time of modification', async () => {
    writeFileSync(source(), `${readFileSync(source(), 'utf8')}\nexport const added = 'a change';\n`);
    utimesSync(source(), 0, 0);
    expect(await isCompiled()).toBe(true);
    expect(readFileSync(join(clone, 'dist/welcome.js'), 'utf8')).toContain('a change');
  });

  it('builds again after a new file and a deleted one, whose module goes too', async () => {
    const more = join(clone, 'src/more.ts');
    writeFileSync(more, 'export const more = 1;\n');
    expect(await isCompiled()).toBe(true);
    expect(existsSync(join(clone, 'dist/more.js'))).toBe(true);
    rmSync(more);
    expect(await isCompiled()).toBe(true);
    expect(existsSync(join(clone, 'dist/more.js'))).toBe(false);
  });

  it('fails for a source that cannot be compiled, again and again', async () => {
    const good = readFileSync(source(), 'utf8');
    writeFileSync(source(), 'export const = ;\n');
    for (const _time of [1, 2]) await expect(build()).rejects.toMatchObject({ code: 1 });
    writeFileSync(source(), good);
    expect(await isCompiled()).toBe(true);
  });
});
