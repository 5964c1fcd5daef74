import { GlobalFonts } from '@napi-rs/canvas';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** One file of a typeface, with the characters of some ranges. It is registered when a text first needs it. */
interface Face {
  family: string;
  file: string;
  covers(codePoint: number): boolean;
}

// Ideographs, kana and their punctuation. The ranges of noto-sans-sc also contain emoji, but its files have no glyphs
// for emoji.
const EAST_ASIAN =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303f\u30fb\u30fc\uff01-\uff9f]$/u;

// Fonts come from npm, because a minimal machine has none. They are variable fonts: `fontVariationSettings` sets the
// weight.
const FACES: Face[] = [
  ...faces('@fontsource-variable/inter', 'inter', () => true),
  ...faces('@fontsource-variable/noto-sans-sc', 'noto-sans-sc', (codePoint) =>
    EAST_ASIAN.test(String.fromCodePoint(codePoint)),
  ),
];

/**
 * The text without emoji and control characters. Empty if the text has no letters or digits, or if the fonts lack one
 * of them: what remains would be fragments and stray commas.
 */
export function writable(text: string): string {
  const characters = [...text.normalize('NFC')];
  const letters = characters.filter((character) => /[\p{L}\p{M}\p{N}]/u.test(character));
  const isWritten = letters.every((letter) => faceOf(letter) ?? /[\uFE00-\uFE0F\u20E3]/.test(letter)); // parts of emoji
  if (letters.length === 0 || !isWritten) return '';
  const kept = characters.filter((character) => /\s/u.test(character) || faceOf(character)).join('');
  if (kept.length === text.length) return kept.replace(/\s+/gu, ' ').trim();
  // Removes the punctuation that belonged to removed characters.
  return kept
    .replace(/\s+/gu, ' ')
    .replace(/(?: ?([,;:、，]))+/gu, '$1')
    .replace(/^[ ,;:、，.!?]+|[ ,;:、，]+$/gu, '');
}

/** Registers the fonts that a writable text needs. @returns the families for the `font` property of a canvas */
export function familiesFor(text: string): string {
  const needed = new Set([...`Ag ${text}`].map(faceOf).filter((face) => face !== undefined));
  for (const face of needed) {
    if (!GlobalFonts.has(face.family)) GlobalFonts.registerFromPath(face.file, face.family);
  }
  return FACES.filter((face) => needed.has(face))
    .map((face) => `"${face.family}"`)
    .join(', ');
}

const faceByCharacter = new Map<string, Face | undefined>();

function faceOf(character: string): Face | undefined {
  if (!faceByCharacter.has(character)) {
    const codePoint = character.codePointAt(0) ?? 0;
    faceByCharacter.set(
      character,
      /\p{C}|\uFFFD/u.test(character) ? undefined : FACES.find((face) => face.covers(codePoint)),
    );
  }
  return faceByCharacter.get(character);
}

/**
 * The files of a @fontsource-variable package. Its `unicode.json` lists the ranges of each file, like
 * `U+0370-0377,U+037A`.
 */
function faces(packageName: string, name: string, accepts: (codePoint: number) => boolean): Face[] {
  const ranges = rangesOf(packageName);
  return Object.entries(ranges).map(([subset, list]) => {
    const part = subset.replace(/[[\]]/g, '');
    const spans = list.split(',').map((span) => {
      const [first = '', last = first] = span.replace('U+', '').split('-');
      return [parseInt(first, 16), parseInt(last, 16)] as const;
    });
    return {
      family: `Darkroom ${name} ${part}`,
      file: require.resolve(`${packageName}/files/${name}-${part}-wght-normal.woff2`),
      covers: (codePoint) =>
        spans.some(([first, last]) => codePoint >= first && codePoint <= last) && accepts(codePoint),
    };
  });
}

/** The ranges of a package. Without the package there are none, and pictures are painted without its characters. */
function rangesOf(packageName: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(require.resolve(`${packageName}/unicode.json`), 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}
