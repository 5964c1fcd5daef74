/** JSON texts for each rule of the grammar in RFC 8259, and texts that break each rule. */

const utf8 = (...bytes: number[]): Buffer => Buffer.from(bytes);

const NUMBERS = '0 -0 1 -1 10 1.5 -1.5 1e5 1E5 1e+5 1e-5 1.0e0 0.1 0e1 0E+1 1e400 -1e400 1e-400'.split(' ');
const BAD_NUMBERS = (
  '01 -01 00 +1 .5 -.5 1. 1.e1 1e 1e+ 1E- 0x1 1_000 1a Infinity -Infinity NaN -NaN --1 -  - 0b1 0o7 ' +
  '1e1.5 1.2.3 ١ １ 1n 2.e3 0e 0e+ -1x 1eE2 -foo ++1 +Inf ∞ 9.e+'
).split(' ');
const ESCAPES = ['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0041', '\\u00e9', '\\uD83D\\uDE00'];
const BAD_ESCAPES = [
  '\\a',
  '\\x41',
  "\\'",
  '\\0',
  '\\u',
  '\\u1',
  '\\u12',
  '\\u123',
  '\\u123g',
  '\\U0041',
  '\\',
  '\\u{41}',
];
const RAW_CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code));
const SPACES = [' ', '\t', '\n', '\r', ' \t\n\r '];
const OTHER_SPACES = ['\v', '\f', '\u00a0', '\u2028', '\u2060', '\ufeff', '\u3000', '\u0085', '\0'];

/** Texts that a JSON parser must accept. */
export const VALID_JSON: readonly string[] = [
  ...NUMBERS.flatMap((number) => [number, `[${number}]`, `{"n":${number}}`]),
  ...ESCAPES.flatMap((escape) => [`"${escape}"`, `{"${escape}":"${escape}"}`]),
  'null',
  'true',
  'false',
  '""',
  '[]',
  '{}',
  '[[]]',
  '[{}]',
  '{"":""}',
  '{"a":{}}',
  '[null,true,false]',
  ...SPACES.flatMap((space) => [`${space}{}${space}`, `[${space}1${space},${space}2${space}]`]),
  '"\u007f"',
  '"\u2028"',
  '"\uffff"',
  '"😀"',
  '"\u00e9"',
  '{"日本":"語"}',
  '"\u0301"',
  '"\u202e"',
  `[${'1,'.repeat(10_000)}1]`,
  `"${'a'.repeat(100_000)}"`,
  `{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":${index}`).join()}}`,
  `[${'9'.repeat(50_000)}]`,
];

/** Texts that a JSON parser must refuse. */
export const INVALID_JSON: readonly (string | Buffer)[] = [
  ...BAD_NUMBERS.filter(Boolean).flatMap((number) => [`[${number}]`, `{"n":${number}}`, number]),
  ...BAD_ESCAPES.flatMap((escape) => [`["${escape}"]`, `{"${escape}":1}`]),
  ...RAW_CONTROLS.flatMap((control) => [`["${control}"]`, `{"a${control}":1}`]),
  ...OTHER_SPACES.flatMap((space) => [`${space}{}`, `{}${space}`, `[1,${space}2]`]),
  ...'[ ] { } [1 1] [1,] [,1] [1,,2] [,] {"a" {"a": {"a":} {"a":1 {"a":1,} {,} {"a",} {:1} {"a"::1} {"a":1:2}'.split(
    ' ',
  ),
  ...'{a:1} {1:1} {null:1} {[]:1} {{}:1} {"a"1} {"a":1"b":2} {"a":1;"b":2} [1;2] [1:2] [1 ["a" ]]'.split(' '),
  '{}{}',
  '[][]',
  '1 2',
  'null null',
  '{} x',
  '[1 2]',
  '{"a":1 "b":2}',
  '}',
  ']',
  '[[',
  '{{',
  '[}',
  '{]',
  '([])',
  'nul',
  'tru',
  'fals',
  'True',
  'NULL',
  'undefined',
  'None',
  'nullx',
  'truefalse',
  'TRUE',
  `'a'`,
  `{'a':1}`,
  '"a',
  'a"',
  '"',
  '""a',
  '`a`',
  '["a]',
  '{"a:1}',
  '["a"b]',
  '// x\n{}',
  '{}// x',
  '/* x */{}',
  '{/**/}',
  '[1/**/]',
  '# x\n{}',
  '{"a":1}#',
  '<x/>',
  '{"a":/x/}',
  '()',
  '@',
  '$',
  '{"a":1}\n{"b":2}',
  'a=1&b=2',
  'data: {}',
  ")]}',\n{}",
  '\x1e{}',
  utf8(0xff),
  utf8(0x22, 0xff, 0x22),
  utf8(0x22, 0xc0, 0xaf, 0x22), // overlong
  utf8(0x22, 0xe0, 0x80, 0x80, 0x22),
  utf8(0x22, 0xed, 0xa0, 0x80, 0x22), // half a surrogate pair
  utf8(0x22, 0xf4, 0xbf, 0xbf, 0xbf, 0x22), // beyond U+10FFFF
  utf8(0x22, 0xe2, 0x82, 0x22), // cut short
  utf8(0xef, 0xbb, 0xbf, 0x7b, 0x7d), // byte order mark
  Buffer.from('{}', 'utf16le'),
  Buffer.from('\ufeff{}', 'utf16le'),
  utf8(0, 0, 0, 0x7b, 0, 0, 0, 0x7d), // UTF-32
  utf8(0x1f, 0x8b, 8, 0, 0, 0, 0, 0), // gzip
  '['.repeat(500_000),
  '{"a":'.repeat(100_000),
  `${'['.repeat(1_000)}${']'.repeat(999)}`,
];

/** Valid JSON that the contract refuses, with the error code. */
export const REFUSED_JSON: readonly (readonly [string, string])[] = [
  ['{"a":1,"a":1}', 'duplicate_key'],
  ['{"a":1,"\\u0061":1}', 'duplicate_key'],
  ['[{"b":{"c":1,"c":2}}]', 'duplicate_key'],
  [`${'['.repeat(33)}${']'.repeat(33)}`, 'json_too_deep'],
  [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, 'json_too_deep'],
  [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'json_too_deep'],
  ['["\\u0000"]', 'invalid_unicode'],
  ['{"\\u0000":1}', 'invalid_unicode'],
  ['["\\ud800"]', 'invalid_unicode'],
  ['["\\udc00\\ud800"]', 'invalid_unicode'],
  ['["\\ud83dx"]', 'invalid_unicode'],
];
