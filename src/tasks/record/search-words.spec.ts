import { hasWords, patternsOf } from './search-words.ts';

describe('the words of a search', () => {
  it.each([
    ['A lighthouse at dusk', 'dusk LIGHT', true],
    ['A lighthouse at dusk', 'dusk dawn', false],
    ['50% of_all', '50% f_a', true],
    ['50 of all', '50%', false],
    ['ÉTÉ', 'été', true],
    [undefined, 'x', false],
  ])('are all in %j: %j is %s', (prompt, search, expected) => {
    expect(hasWords(prompt, search)).toBe(expected);
  });

  it('are literal in a pattern', () => {
    expect(patternsOf(String.raw` 50% f_a c:\x `)).toEqual([
      String.raw`%50\%%`,
      String.raw`%f\_a%`,
      String.raw`%c:\\x%`,
    ]);
  });
});
