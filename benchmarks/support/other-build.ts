import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HERE = new URL('../..', import.meta.url).pathname;

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: HERE, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The newest tag before this commit, such as the last release; without a tag the parent of this commit. */
export function lastTagOrParent(): string {
  try {
    return git('describe', '--tags', '--abbrev=0', 'HEAD^');
  } catch {
    return 'HEAD^';
  }
}

/** @returns false where the commit is unknown, such as in a shallow clone */
export function isKnown(commit: string): boolean {
  try {
    return git('cat-file', '-t', `${commit}^{commit}`) === 'commit';
  } catch {
    return false;
  }
}

/**
 * Builds another commit of this repository in a temporary folder. This takes a minute if its packages differ, else
 * seconds.
 */
export async function buildOf(commit: string): Promise<{ folder: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'darkroom-build-'));
  const folder = join(parent, 'clone');
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: folder, stdio: 'ignore' });
  const remove = () => rm(parent, { recursive: true, force: true });
  try {
    execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', HERE, folder]);
    run('git', 'checkout', '--quiet', '--detach', git('rev-parse', `${commit}^{commit}`));
    const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
    if (lock(folder) === lock(HERE)) symlinkSync(join(HERE, 'node_modules'), join(folder, 'node_modules'));
    else run('npm', 'ci');
    run('npm', 'run', 'build');
    if (!existsSync(join(folder, 'dist/main.js'))) throw new Error(`${commit} could not be built.`);
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
