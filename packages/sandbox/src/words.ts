/**
 * A pattern for any of these words, in any letter case, also in the English plural. Chinese words need no word
 * boundary.
 */
export function anyOf(...words: string[]): RegExp {
  const chinese = words.filter((word) => /\p{Script=Han}/u.test(word));
  const spaced = words.filter((word) => !chinese.includes(word));
  const bounded = `(?<!\\p{L})(?:${spaced.join('|')})(?:e?s)?(?!\\p{L})`;
  return new RegExp([bounded, ...chinese].join('|'), 'iu');
}

/** The items whose words occur in the text, in the order of their first occurrence. */
export function mentioned<T extends { words: RegExp }>(text: string, list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: text.search(item.words) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
