import { GlobalFonts } from '@napi-rs/canvas';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A part of a typeface: one file with the characters of one range, registered when a text first needs it. */
interface Face {
  family: string;
  file: string;
  holds(codePoint: number): boolean;
}

// Ideographs, kana and their punctuation; the file ranges of the package also claim emoji it has no glyphs for.
const EAST_ASIAN =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303f\u30fb\u30fc\uff01-\uff9f]$/u;

// Fonts come with npm, for a bare machine has none. Variable fonts: `fontVariationSettings` sets the weight.
const FACES: Face[] = [
  ...faces('@fontsource-variable/inter', 'inter', () => true),
  ...faces('@fontsource-variable/noto-sans-sc', 'noto-sans-sc', (codePoint) =>
    EAST_ASIAN.test(String.fromCodePoint(codePoint)),
  ),
];

/** The text as our fonts can write it: characters without a glyph (emoji, rarer scripts) are left out. */
export function writable(text: string): string {
  const kept = [...text.normalize('NFC')].filter((character) => /\s/u.test(character) || faceOf(character));
  return kept.join('').replace(/\s+/gu, ' ').trim();
}

/** A list of families for the `font` property with every character of a writable text, registered. */
export function familiesFor(text: string): string {
  const needed = new Set([...`Ag ${text}`].map(faceOf).filter((face) => face !== undefined));
  for (const face of needed) {
    if (!GlobalFonts.has(face.family)) GlobalFonts.registerFromPath(face.file, face.family);
  }
  return FACES.filter((face) => needed.has(face))
    .map((face) => `"${face.family}"`)
    .join(', ');
}

const known = new Map<string, Face | undefined>();

function faceOf(character: string): Face | undefined {
  if (!known.has(character)) {
    const codePoint = character.codePointAt(0) ?? 0;
    known.set(character, /\p{C}|\uFFFD/u.test(character) ? undefined : FACES.find((face) => face.holds(codePoint)));
  }
  return known.get(character);
}

/** The files of a @fontsource-variable package; `unicode.json` maps each to ranges like `U+0370-0377,U+037A`. */
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
      holds: (codePoint) =>
        spans.some(([first, last]) => codePoint >= first && codePoint <= last) && accepts(codePoint),
    };
  });
}

/** Without the package nothing of it can be written, and pictures go unlettered; they are still painted. */
function rangesOf(packageName: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(require.resolve(`${packageName}/unicode.json`), 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}
