import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';

/** The folder of the clone, with a slash at its end. */
export const ROOT = new URL('../', import.meta.url).pathname;

/** A part of the build, which is built again when something that it is made from has changed. */
export interface Part {
  /** A file that keeps the hash of what was built. */
  stamp: string;
  /** Globs of what the part is made from. */
  inputs: string[];
  exclude: string[];
}

export const PARTS = {
  service: {
    stamp: 'dist/service.stamp',
    inputs: ['src/**/*.ts', '.swcrc', 'nest-cli.json', 'package-lock.json', 'scripts/bundle*.ts'],
    exclude: ['src/dashboard/app/**'],
  },
  app: {
    stamp: 'dist/dashboard/app/stamp',
    inputs: ['src/dashboard/app/**/*', 'schema.graphql', 'package-lock.json'],
    exclude: [],
  },
  client: {
    stamp: 'dist/client.stamp',
    inputs: ['src/client/**/*', 'scripts/pack-client.ts', 'package.json'],
    exclude: [],
  },
  reference: {
    stamp: 'dist/reference.stamp',
    inputs: ['docs/**/*.md', 'scripts/build-reference.ts', 'package-lock.json'],
    exclude: [],
  },
} satisfies Record<string, Part>;

/** Keeps the state of the inputs for which all parts are current. */
export const CURRENT = `${ROOT}dist/inputs.stamp`;

/** The files and folders that hold all inputs. */
const WATCHED = new Set(Object.values(PARTS).flatMap(({ inputs }) => inputs.map((glob) => glob.split('/', 1)[0]!)));

/**
 * Whether nothing was written since all parts were current. No file is read for it, which takes a tenth of the time. A `no`
 * may be wrong, such as after a checkout of another commit and back; the hashes then tell.
 */
export function isCurrent(): boolean {
  const isBuilt = Object.values(PARTS).every(({ stamp }) => existsSync(ROOT + stamp));
  return isBuilt && textOf(CURRENT) === stateOfInputs();
}

/** The times and sizes of all files that may be inputs. */
export function stateOfInputs(): string {
  const lines: string[] = [];
  const add = (path: string): void => {
    const found = statSync(path, { throwIfNoEntry: false }); // an editor may have removed it by now
    lines.push(`${path} ${found?.mtimeMs} ${found?.ctimeMs} ${found?.size}`);
  };
  const addFolder = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = `${path}/${entry.name}`;
      if (entry.isDirectory()) addFolder(inside);
      else if (entry.isFile()) add(inside);
    }
  };
  for (const name of WATCHED) {
    if (statSync(ROOT + name, { throwIfNoEntry: false })?.isDirectory()) addFolder(ROOT + name);
    else add(ROOT + name);
  }
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** null if there is no such file. */
export function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
