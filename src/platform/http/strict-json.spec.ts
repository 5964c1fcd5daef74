import { jest } from '@jest/globals';
import { ApiError } from '../../errors/api-error.ts';
import { parseStrictJson } from './strict-json.ts';

const parse = (text: string) => parseStrictJson(Buffer.from(text));

function refusal(text: string | Buffer): { code: string; param: string | null; message: string } {
  try {
    parseStrictJson(Buffer.from(text as string));
  } catch (error) {
    const { code, param, message } = error as ApiError;
    return { code, param, message };
  }
  throw new Error(`accepted: ${text.toString().slice(0, 80)}`);
}

describe('a strict JSON body', () => {
  it.each([
    '{}',
    ' [1, -2.5e+3, true, false, null, "", "a\\"b\\\\", {"a":{"a":[{"a":1},{"a":2}]}}] ',
    '"\\u00e9 \\ud83d\\ude00 \u{1f600} é"',
    '{"":1,"a":"}{][,:\\"","b":"\\\\"}',
    '0',
  ])('parses %s like JSON.parse', (text) => expect(parse(text)).toEqual(JSON.parse(text)));

  it('keeps __proto__ as a plain property, for validation to reject', () => {
    const value = parse('{"__proto__":{"admin":true}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":[0,{"b":{"c":1,"d":"x","c":2}}]}', 'x[1].b.c'],
    ['[{"a":1},{"a":1,"b":{},"a":2}]', '[1].a'],
    [`{${Array.from({ length: 40 }, (_, i) => `"k${i}":${i}`).join()},"k7":0}`, 'k7'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a":"\\"","a":"\\\\"}', 'a'],
    ['{"":1,"":2}', ''],
  ])('rejects a duplicate key: %s', (text, param) =>
    expect(refusal(text)).toMatchObject({ code: 'duplicate_key', param }),
  );

  it('accepts equal keys in different objects', () => {
    expect(() => parse('{"a":{"a":1},"b":{"a":1},"c":[{"a":1},{"a":1}]}')).not.toThrow();
  });

  it('accepts 32 levels, but not 33', () => {
    expect(() => parse('['.repeat(32) + ']'.repeat(32))).not.toThrow();
    expect(refusal('['.repeat(33) + ']'.repeat(33)).code).toBe('json_too_deep');
    expect(refusal('{"a":'.repeat(33) + '1' + '}'.repeat(33)).code).toBe('json_too_deep');
    expect(refusal('['.repeat(400_000) + ']'.repeat(400_000)).code).toBe('json_too_deep');
  });

  it('accepts 5,000 keys in an object, and no more', () => {
    const object = (keys: number) => `{${Array.from({ length: keys }, (_, nth) => `"k${nth}":1`).join()}}`;
    expect(Object.keys(parse(object(5_000)) as object)).toHaveLength(5_000);
    expect(parse(`[${object(3_000)},${object(3_000)}]`)).toHaveLength(2);
    expect(refusal(object(5_001))).toMatchObject({ code: 'too_many_items', param: null });
    expect(refusal(`{"metadata":[0,${object(5_001)}]}`)).toMatchObject({
      code: 'too_many_items',
      param: 'metadata[1]',
    });
  });

  it('does not even parse a large body with too many levels, values or names', () => {
    const parsing = jest.spyOn(JSON, 'parse');
    const deep = refusal('['.repeat(400_000) + ']'.repeat(400_000));
    const wide = refusal(`[${'{},'.repeat(300_000)}1]`);
    const named = refusal(`[${'{"a":1},'.repeat(200_001)}1]`);
    const calls = parsing.mock.calls.length;
    parsing.mockRestore();
    expect(deep.code).toBe('json_too_deep');
    expect(wide).toMatchObject({ code: 'invalid_json', message: expect.stringContaining('500000 values') });
    expect(named).toMatchObject({ code: 'invalid_json', message: expect.stringContaining('200000 names') });
    expect(calls).toBe(0);
  });

  it.each([
    ['{"prompt":"a\\u0000b"}', 'prompt'],
    ['{"metadata":{"a":"\\ud800"}}', 'metadata.a'],
    ['{"reference_images":["a","b","\\udc00x"]}', 'reference_images[2]'],
    ['{"a":"\\ud83dx\\ude00"}', 'a'],
    ['{"a":{"b\\u0000":1}}', 'a.b\ufffd'],
    ['{"a\\ud800":1}', 'a\ufffd'],
  ])('rejects text that the database cannot store: %s', (text, param) => {
    expect(refusal(text)).toMatchObject({ code: 'invalid_unicode', param });
  });

  it('accepts escapes of whole characters', () => {
    expect(parse('{"a\\n":"\\\\u0000 \\ud83d\\ude00"}')).toEqual({ 'a\n': '\\u0000 😀' });
  });

  it('does not search a long body for its fault, because each space would take memory', () => {
    expect(refusal(`[${' '.repeat(1_000_000)}x`).message).toContain('position 1000001');
    expect(refusal(`[${' '.repeat(1_100_000)}x`).message).toBe(
      'The request body is not valid JSON: it is too long to say where.',
    );
  });

  it.each([
    ['', 'it is empty'],
    ['  \n', 'it is empty'],
    ['{"a":', 'it ends too early'],
    ['{"secret":"hunter2', 'it ends too early'],
    ['{"a":}', 'position 5'],
    ['{"a":1,}', 'position 7'],
    ["{'a':1}", 'position 1'],
    ['[1 2]', 'position 3'],
    ['[01]', 'position 2'],
    ['[1,]', 'position 3'],
    ['{"secret":"hunter2"} x', 'position 21'],
    ['{"a":"\u0001"}', 'the string at position 5 holds a control character'],
    ['{"a":"x\ny"}', 'the string at position 5 is not closed on its line'],
    ['{"a":"\\x"}', 'the string at position 5 holds an invalid escape'],
    ['{"a":"\\u12"}', 'the string at position 5 holds an invalid \\u escape'],
    ['{"a":1, // b\n"c":2}', 'position 8'],
    ['['.repeat(60_000), 'nested too deep'],
    ['['.repeat(600_000), 'ends too early'],
    [`{"a":"${'x'.repeat(900_000)}\\`, 'it ends too early'],
    ['[NaN]', 'position 1'],
    ['nul', 'position 0'],
  ])('locates the fault of %.40j without repeating the body', (text, where) => {
    const { code, message } = refusal(text);
    expect(code).toBe('invalid_json');
    expect(message).toContain(where);
    expect(message).not.toContain('hunter2');
  });

  it('rejects bytes that are not plain UTF-8', () => {
    expect(refusal(Buffer.from([0x22, 0xc3, 0x28, 0x22])).code).toBe('invalid_json');
    expect(refusal('\ufeff{}').message).toContain('byte order mark');
  });
});
