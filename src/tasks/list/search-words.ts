/** Each word costs a comparison with the prompt of every task that is read. */
export const MAX_SEARCH_WORDS = 8;
export const MAX_SEARCH_CHARACTERS = 200;

/** The words of a search, in any order and any case. */
export const wordsOf = (search: string): string[] => search.trim().split(/\s+/u);

/** The words as patterns of `ilike`. */
export const patternsOf = (search: string): string[] =>
  wordsOf(search).map((word) => `%${word.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);

/** The same rule for a prompt in memory. */
export function hasWords(prompt: unknown, search: string): boolean {
  const text = typeof prompt === 'string' ? prompt.toLowerCase() : '';
  return wordsOf(search).every((word) => text.includes(word.toLowerCase()));
}
