import { readFileSync } from 'node:fs';

/**
 * Reads a file that a person has written. Editors and shells of Windows begin it with a byte order mark or write
 * UTF-16. Read as it stands, it would lose its first line without an error.
 * @throws Error with a `code`: of the system, or that the bytes are no text
 */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes); // takes the byte order mark off
    if (!text.includes('\0')) return text; // UTF-16 without a mark has one beside each letter
  } catch {
    // Not of this encoding.
  }
  throw Object.assign(new Error(`${path} is not UTF-8`), { code: 'it is not UTF-8' });
}

function encodingOf([first, second]: Buffer): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
