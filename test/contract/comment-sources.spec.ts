import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;
/** Notes and drafts that a clone does not contain. */
const OUTSIDE = /\bcontract \d|shared provider notes|\bthe prototype's\b|\b(?:contract|design|style|house)\.md\b/i;

describe('comments', () => {
  it('cite only documents that the repository contains', () => {
    const citations = globSync('{src,test,benchmarks,scripts}/**/*.ts', { cwd: root })
      .filter((file) => file !== 'test/contract/comment-sources.spec.ts')
      .flatMap((file) =>
        readFileSync(join(root, file), 'utf8')
          .split('\n')
          .flatMap((line, index) => (OUTSIDE.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
      );
    expect(citations).toEqual([]);
  });

  it('name only files that exist', () => {
    const files = globSync('{src,packages,test,benchmarks,scripts}/**/*.{ts,tsx}', {
      cwd: root,
      exclude: ['**/node_modules', '**/*.d.ts', 'test/contract/*-{paths,sources}.spec.ts'],
    });
    const paths = files.map((file) => `/${file}`);
    const exists = (named: string) => paths.some((path) => path.endsWith(`/${named.replace(/^(\.\.?\/)+/, '')}`));
    const dead = files.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, at) => {
          const [, comment = ''] = /^\s*(?:\/?\*+|\/\/)(.*)$/.exec(line) ?? [];
          const named = comment.match(/(?<![\w<*./-])[\w./-]*[\w-]\.tsx?\b/g) ?? [];
          return named.filter((each) => !exists(each)).map((each) => `${file}:${at + 1} ${each}`);
        }),
    );
    expect(dead).toEqual([]);
  });
});
