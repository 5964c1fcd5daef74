/**
 * Whether a text has at most this number of code points: the characters that JSON Schema counts. An emoji is one code
 * point, but two UTF-16 units.
 */
export const hasAtMost = (text: string, codePoints: number): boolean =>
  text.length <= codePoints || (text.length <= 2 * codePoints && [...text].length <= codePoints);
