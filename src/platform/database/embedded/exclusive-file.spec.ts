import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withExclusiveFile } from './exclusive-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'exclusive-file-'));
const path = join(folder, 'lock');
afterAll(() => rmSync(folder, { recursive: true }));

const TAKE = `
  const file = new (require('node:sqlite').DatabaseSync)(process.argv[1], { timeout: 0 });
  try { file.exec('begin exclusive'); console.log('taken'); } catch { console.log('held'); }`;
/** What another process finds. */
const another = (): string =>
  execFileSync(process.execPath, ['--no-warnings', '-e', TAKE, path], { encoding: 'utf8' }).trim();

it('is held against other processes, also after a second call in this one has come to wait', async () => {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const first = withExclusiveFile(path, 10_000, () => done);
  let hasRun = false;
  const second = withExclusiveFile(path, 10_000, async () => {
    hasRun = true;
  });
  expect([another(), hasRun]).toEqual(['held', false]);
  resolve();
  await Promise.all([first, second]);
  expect([another(), hasRun]).toEqual(['taken', true]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
