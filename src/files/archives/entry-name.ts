/**
 * The maximum number of characters of a title. Some systems allow 255 bytes in a name, and a character may take four
 * bytes.
 */
const MAX_TITLE = 50;

/**
 * The name of a file in an archive, such as `003-a-lighthouse-at-dusk.png`. The number makes the name unique, also
 * where a file system ignores letter case. No reserved name of Windows begins with digits. Letters and digits of all
 * scripts stay. Each run of other characters between them, such as slashes, dots and controls, becomes one hyphen.
 * @param extension with its dot
 */
export function entryName(index: number, title: string, extension: string): string {
  const words = title.normalize('NFC').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const short = Array.from(words.join('-')).slice(0, MAX_TITLE).join('').replace(/-$/, '');
  const number = String(index + 1).padStart(3, '0');
  return `${[number, short].filter(Boolean).join('-')}${extension}`;
}
