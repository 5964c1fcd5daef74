import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = new URL('../../../../', import.meta.url).pathname;

/** A release without it cannot run beside this program: the migration runs while the service is stopped. */
const TWO_TABLES = 'src/platform/database/migrations/0049-two-tables.ts';

const git = (...args: string[]): Buffer =>
  execFileSync('git', ['-C', ROOT, ...args], { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 28 });

/** The newest tag of a version below this commit; null in a clone without one that can run beside this program. */
export function lastRelease(): string | null {
  try {
    const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD~1').toString().trim();
    git('cat-file', '-e', `${tag}:${TWO_TABLES}`);
    return tag;
  } catch {
    return null;
  }
}

/**
 * Builds the service of a commit, without its dashboard. It takes the packages of this folder: they are pinned, and
 * older ones are rarely needed.
 * @returns its main.js
 */
export function buildRelease(commit: string, folder: string): string {
  writeFileSync(join(folder, 'release.tar'), git('archive', commit));
  execFileSync('tar', ['-xf', 'release.tar'], { cwd: folder });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js'), 'build'], { cwd: folder });
  return join(folder, 'dist/main.js');
}
