import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../../scripts/build-parts.ts';

/** @returns a new folder with the build and no packages but those of `npm ci --omit=dev` */
export function installWithoutDevelopment(): string {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-installed-'));
  cpSync(`${ROOT}dist`, join(folder, 'dist'), { recursive: true, filter: (path) => !path.endsWith('/compiled') });
  cpSync(`${ROOT}package.json`, join(folder, 'package.json'));
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { dependencies: object };
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(`${ROOT}node_modules/${name}`, link);
  }
  return folder;
}
