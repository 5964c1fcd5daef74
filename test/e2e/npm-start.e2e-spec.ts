import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PARTS, ROOT } from '../../scripts/build-parts.ts';
import { eventually } from '../support/wait.ts';

const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };
const STAMPS = Object.values(PARTS).map(({ stamp }) => stamp);

/** Says when it begins, writes a program that says what it was built from, and the stamps of the parts. */
const BUILD = `
  import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
  import { dirname } from 'node:path';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { CURRENT, stateOfInputs } from './build-parts.ts';
  const source = readFileSync('src/source.ts', 'utf8');
  process.stdout.write('building\\n');
  if (source === 'wrong') process.exit(3);
  if (source === 'slow') await sleep(60_000);
  const write = (path, text) => { mkdirSync(dirname(path), { recursive: true }); writeFileSync(path, text); };
  write('dist/bundle/main.js', 'console.log(' + JSON.stringify('runs ' + source) + ')');
  for (const stamp of ${JSON.stringify(STAMPS)}) write(stamp, '');
  write(CURRENT, stateOfInputs());
`;

/** What `npm start` runs, in a small clone whose build takes no time. */
describe('npm start', () => {
  let clone: string;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  };
  const launch = () => {
    const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const child = spawn('sh', ['-c', scripts.start!], { cwd: clone, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return {
      child,
      output: () => output,
      end: once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    };
  };
  const start = async (): Promise<string> => {
    const { output, end } = launch();
    expect(await end).toEqual([0, null]);
    return output();
  };

  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'darkroom-start-'));
    for (const file of ['scripts/build-parts.ts', 'scripts/build-first.ts']) cpSync(ROOT + file, join(clone, file));
    for (const { inputs } of Object.values(PARTS)) {
      for (const glob of inputs) write(glob.includes('*') ? `${glob.split('/')[0]}/a-file` : glob, 'an input');
    }
    write('package.json', '{ "type": "module" }');
    write('scripts/build.ts', BUILD);
    write('src/source.ts', 'one');
  });
  afterEach(() => rmSync(clone, { recursive: true, force: true }));

  it('builds first, and not again', async () => {
    expect(await start()).toBe('building\nruns one\n');
    expect(await start()).toBe('runs one\n');
  });

  it('builds again after a change that keeps size and time of modification', async () => {
    await start();
    const { atime, mtime } = statSync(join(clone, 'src/source.ts'));
    write('src/source.ts', 'two');
    utimesSync(join(clone, 'src/source.ts'), atime, mtime);
    expect(await start()).toBe('building\nruns two\n');
  });

  it.each(['a new file', 'a file that is gone', 'a stamp that is gone'])('builds again after %s', async (change) => {
    await start();
    if (change === 'a new file') write('src/a-room/new.ts', '');
    else rmSync(join(clone, change === 'a file that is gone' ? 'docs/a-file' : STAMPS[0]!));
    expect(await start()).toBe('building\nruns one\n');
  });

  it('does not run the program of an earlier build if the build fails', async () => {
    await start();
    write('src/source.ts', 'wrong');
    const { output, end } = launch();
    expect(await end).toEqual([3, null]);
    expect(output()).toBe('building\n');
  });

  it('ends with its build at a signal', async () => {
    write('src/source.ts', 'slow');
    const { child, output, end } = launch();
    await eventually('the build to begin', async () => output() === 'building\n');
    child.kill('SIGTERM');
    // The output is closed only when the build has ended too.
    expect(await end).toEqual([null, 'SIGTERM']);
  });
});
