import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const pages = globSync(['*.md', 'docs/**/*.md', 'benchmarks/*.md'], { cwd: root })
  .filter((page) => !textOf(page).includes('\nStatus: superseded by')) // history: it may name files that are gone
  .sort();

/** `a/b.ts`, or a test named without its ending: `processes/takeover`. */
const PATH = /`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|js|md|json|yml|graphql))`/g;
const TEST = /`(?:test\/)?((?:api|processes|smoke|outside)(?:\/[\w-]+)+)`/g;
const LINK = /\]\((?!https?:)([^)#\s]+)[^)]*\)/g;
/** Made by `npm run build`. */
const isBuilt = (path: string) => path.startsWith('dist/');

describe.each(pages)('%s', (page) => {
  const text = textOf(page);
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, path]) => path as string);
  const missing = (paths: string[], ...candidates: ((path: string) => string)[]) =>
    paths.filter((path) => !candidates.some((candidate) => existsSync(join(root, candidate(path)))));

  it('names only files that exist, by their path from the root or from src', () => {
    const paths = found(PATH).filter((path) => !isBuilt(path));
    expect(
      missing(
        paths,
        (path) => path,
        (path) => join('src', path),
      ),
    ).toEqual([]);
  });

  it('names only tests that exist', () => {
    expect(
      missing(
        found(TEST),
        (path) => `test/${path}.e2e-spec.ts`,
        (path) => `test/${path}`,
      ),
    ).toEqual([]);
  });

  it('links only to files that exist', () => {
    expect(missing(found(LINK), (path) => join(dirname(page), path))).toEqual([]);
  });
});
