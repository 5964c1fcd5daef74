import { benchmarksWithTables, pageText, withTables } from '../../scripts/performance-page.ts';

describe('docs/performance.md', () => {
  it('has the tables of benchmarks/results; npm run bench:page writes them', () => {
    expect(pageText()).toBe(withTables(pageText()));
  });

  it('has a table of each benchmark that the script knows', () => {
    const marked = [...pageText().matchAll(/<!-- begin ([\w-]+) -->/g)].map(([, name]) => name);
    expect(marked.sort()).toEqual(benchmarksWithTables().sort());
  });
});
