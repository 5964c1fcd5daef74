import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const APP = new URL('../../dist/dashboard/app/', import.meta.url);
const KB = 1_000;

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}

const manifest = (): Record<string, Chunk> =>
  JSON.parse(readFileSync(new URL('manifest.json', APP), 'utf8')) as Record<string, Chunk>;

const gzipped = (file: string): number => gzipSync(readFileSync(new URL(file, APP)), { level: 9 }).length;

/** The files that a chunk brings along, itself included. */
function filesOf(chunks: Record<string, Chunk>, name: string, seen = new Set<string>()): Set<string> {
  const chunk = chunks[name];
  if (!chunk || seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const css of chunk.css ?? []) seen.add(css);
  for (const other of chunk.imports ?? []) filesOf(chunks, other, seen);
  return seen;
}

const weight = (files: Iterable<string>, ending: string): number =>
  [...files].filter((file) => file.endsWith(ending)).reduce((sum, file) => sum + gzipped(file), 0);

describe('the built dashboard', () => {
  const chunks = manifest();
  const [entry = ''] = Object.entries(chunks).find(([, chunk]) => chunk.isEntry) ?? [];
  const first = filesOf(chunks, entry);

  it('loads first at most 150 kB of scripts and styles, gzipped', () => {
    const page = readFileSync(new URL('index.html', APP), 'utf8');
    for (const [, file = ''] of page.matchAll(/"\/app\/([^"]+\.(?:js|css))"/g)) first.add(file); // also what no script asks for
    expect(weight(first, '.js') + weight(first, '.css')).toBeLessThanOrEqual(150 * KB);
  });

  it('loads at most 40 kB more for any other screen', () => {
    const screens = Object.keys(chunks).filter((name) => /routes\/.*-screen\.tsx$/.test(name));
    expect(screens.length).toBeGreaterThan(8);
    for (const screen of screens) {
      const more = [...filesOf(chunks, screen)].filter((file) => !first.has(file));
      expect({ screen, isLight: weight(more, '.js') <= 40 * KB }).toEqual({ screen, isLight: true });
    }
  });

  it('has a compressed twin of every script and style', () => {
    for (const file of first) {
      for (const suffix of ['.br', '.gz']) expect(existsSync(new URL(file + suffix, APP))).toBe(true);
    }
  });
});
