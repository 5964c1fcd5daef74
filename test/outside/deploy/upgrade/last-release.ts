import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = new URL('../../../../', import.meta.url).pathname;

/** Stands for the last release as long as there is no tag: the last commit before migration 0034. */
const BEFORE_TAGS = 'fd207c56eb007d9ee4f3da81337464b7bd2af29e';

const git = (...args: string[]): Buffer =>
  execFileSync('git', ['-C', ROOT, ...args], { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 28 });

/** The newest tag of a version below this commit, or the commit that stands for one; null in a clone without it. */
export function lastRelease(): string | null {
  for (const find of [
    () => git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD~1').toString().trim(),
    () => BEFORE_TAGS,
  ]) {
    try {
      const commit = find();
      git('cat-file', '-e', `${commit}^{tree}`);
      return commit;
    } catch {
      // a clone without tags, or without this commit
    }
  }
  return null;
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
