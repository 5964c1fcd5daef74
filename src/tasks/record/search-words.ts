/** The most words of a search. Each word is compared with the prompt of every task that is read. */
export const MAX_SEARCH_WORDS = 8;
export const MAX_SEARCH_CHARACTERS = 200;

/** The words of a search. A prompt matches if it contains all of them, in any order and any case. */
export const wordsOf = (search: string): string[] => search.trim().split(/\s+/u);

/** A word as a pattern of `ilike`. */
export const patternOf = (word: string): string => `%${word.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

export const patternsOf = (search: string): string[] => wordsOf(search).map(patternOf);

/** Whether a prompt in memory contains all words of a search, by the rule of `wordsOf`. */
export function hasWords(prompt: unknown, search: string): boolean {
  const text = typeof prompt === 'string' ? prompt.toLowerCase() : '';
  return wordsOf(search).every((word) => text.includes(word.toLowerCase()));
}
