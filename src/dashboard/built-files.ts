import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { ROOT_FOLDER } from '../platform/config/root-folder.ts';

/** The build of packages/dashboard writes the app here. */
export const APP_FOLDER = `${ROOT_FOLDER}dist/dashboard/app/`;

export type Encoding = 'identity' | 'gzip' | 'br';

/** The bytes of a file in one content coding. */
export interface Representation {
  bytes: Buffer;
  etag: string;
}

export interface BuiltFile {
  /** Relative to the folder of the built app, such as `assets/main-4f2a.js`. */
  path: string;
  contentType: string;
  in: Readonly<{ identity: Representation } & Partial<Record<Encoding, Representation>>>;
}

/** The build writes `NAME.br` and `NAME.gz` beside each HTML, JavaScript, CSS and SVG file. */
const COMPRESSED: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** Content types by extension. Files with another extension are not served, such as source maps. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/**
 * Reads the built app into memory, by path. A request only looks a path up in this map, so no path of a request reaches
 * the disk.
 * @returns an empty map if the app is not built
 */
export function readBuiltFiles(folder: string = APP_FOLDER): ReadonlyMap<string, BuiltFile> {
  const files = new Map<string, BuiltFile>();
  for (const entry of entriesOf(folder)) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    const contentType = CONTENT_TYPES[extname(path)];
    if (contentType === undefined || path.startsWith('.')) continue;
    const compressed = COMPRESSED.flatMap(([encoding, suffix]) => {
      const bytes = readIfPresent(join(folder, path + suffix));
      return bytes ? [[encoding, toRepresentation(bytes)]] : [];
    });
    const identity = toRepresentation(readFileSync(join(folder, path)));
    files.set(path, { path, contentType, in: { identity, ...Object.fromEntries(compressed) } });
  }
  return files;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readIfPresent(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Each coding has its own ETag, because a strong ETag stands for exact bytes. */
function toRepresentation(bytes: Buffer): Representation {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}
