/**
 * Bounds of a text that is parsed: nested levels, values, and names in maps. A picture is one value. A batch of 5,000
 * items with 40 images each has some 310,000 values. A name takes ten times as long as a value, and most if small maps
 * have names of their own.
 */
const MAX_DEPTH = 64;
export const MAX_VALUES = 500_000;
export const MAX_NAMES = 200_000;
/** Parsing fewer bytes takes no time that matters, whatever they are. */
const SMALL_BYTES = 65_536;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether a text may be parsed as JSON: `excessIn` finds nothing. */
export const isPlainJson = (text: Buffer): boolean => excessIn(text) === null;

/**
 * Why a text must not be parsed as JSON; null if it may be. Eight megabytes of brackets would keep the main thread busy
 * for seconds, and take thirty times their size in memory. A text with levels that stay open is no JSON at all.
 */
export function excessIn(text: Buffer): 'levels' | 'open levels' | 'values' | 'names' | null {
  if (text.length <= SMALL_BYTES) return null;
  let depth = 0;
  let deepest = 0;
  let values = 0;
  let names = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfString(text, at);
    else if (byte === CLOSE_LIST || byte === CLOSE_MAP) depth -= 1;
    else if (byte === COLON) names += 1;
    if (byte === OPEN_LIST || byte === OPEN_MAP) depth += 1;
    else if (byte !== COMMA) continue;
    values += 1; // one for each list and map, and one for each comma between values
    if (depth > deepest) deepest = depth;
    if (values > MAX_VALUES && deepest <= MAX_DEPTH) return 'values';
  }
  if (deepest <= MAX_DEPTH) return names > MAX_NAMES ? 'names' : null;
  return depth === 0 ? 'levels' : 'open levels';
}

/** The index at which the string that begins here ends; the end of the text if it does not end. */
function endOfString(text: Buffer, from: number): number {
  for (let end = text.indexOf(QUOTE, from + 1); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let before = end;
    while (text[before - 1] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}
