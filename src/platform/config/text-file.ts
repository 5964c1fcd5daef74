import { readFileSync } from 'node:fs';

/**
 * Reads a file that a person has written. Editors and shells of Windows may begin a file with a byte order mark, or
 * write UTF-16. Read as plain UTF-8, such a file would have a wrong first line, without an error.
 * @throws Error with a `code`: the code of the system if the file cannot be read, or `it is not UTF-8`
 */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes); // removes the byte order mark
    if (!text.includes('\0')) return text; // UTF-16 without a mark has a NUL beside each letter
  } catch {
    // The bytes are not in this encoding: the error below says so.
  }
  throw Object.assign(new Error(`${path} is not UTF-8`), { code: 'it is not UTF-8' });
}

function encodingOf([first, second]: Buffer): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
