import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT_FOLDER as ROOT } from '../../src/platform/config/root-folder.ts';

/** @returns a new folder with the build, in which only the packages of `dependencies` are found */
export function installWithoutDevelopment(): string {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-installed-'));
  cpSync(`${ROOT}dist`, join(folder, 'dist'), { recursive: true });
  cpSync(`${ROOT}models`, join(folder, 'models'), { recursive: true });
  cpSync(`${ROOT}package.json`, join(folder, 'package.json'));
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { dependencies: object };
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(`${ROOT}node_modules/${name}`, link);
  }
  return folder;
}
