import { isPlainJson } from './plain-json.ts';

const BYTES = 8 * 1024 * 1024;
const isPlain = (text: string) => isPlainJson(Buffer.from(text));

it.each([
  ['a picture of 8 MiB', JSON.stringify({ data: [{ b64_json: 'A'.repeat(BYTES) }] })],
  ['brackets in a text', JSON.stringify({ text: '[{,"\\'.repeat(200_000) })],
  ['a list of 10,000 links', JSON.stringify(Array.from({ length: 10_000 }, (_, at) => ({ url: `/files/${at}.png` })))],
  ['a text that does not end', `"${'x'.repeat(BYTES)}`],
  ['white space', ' '.repeat(BYTES)],
  ['a list of 490,000 texts', JSON.stringify(Array.from({ length: 490_000 }, () => 'x'))],
  [
    'a batch of 5,000 items with 40 fields each',
    JSON.stringify(
      Array.from({ length: 5_000 }, () => Object.fromEntries(Array.from({ length: 40 }, (_, at) => [at, ':::']))),
    ),
  ],
  ['small and deep', '['.repeat(1_000) + ']'.repeat(1_000)],
])('%s may be parsed', (_, text) => expect(isPlain(text)).toBe(true));

it.each([
  ['lists in lists', '['.repeat(BYTES / 2) + ']'.repeat(BYTES / 2)],
  ['maps in maps', '{"a":'.repeat(BYTES / 5)],
  ['a list of lists', `[${'[],'.repeat(BYTES / 3)}[]]`],
  ['a list of numbers', `[${'1,'.repeat(BYTES / 2)}1]`],
  ['a map of many names', JSON.stringify(Object.fromEntries(Array.from({ length: 500_002 }, (_, at) => [at, at])))],
  [
    'many small maps of other names each',
    JSON.stringify(
      Array.from({ length: 2_001 }, (_, map) =>
        Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${map}-${at}`, ':'])),
      ),
    ),
  ],
  ['quotes behind backslashes', `["${'\\\\'.repeat(50_000)}",${'[],'.repeat(300_000)}1]`],
])('%s may not', (_, text) => expect(isPlain(text)).toBe(false));
