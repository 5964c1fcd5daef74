import { jest } from '@jest/globals';
import { FileInspector } from './file-inspector.ts';

const lines = (text: string) => new FileInspector().inspect('key_1', 'batch', Buffer.from(text));

it.each([
  ['levels', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['values', `{"a":[${'{},'.repeat(300_000)}1]}`],
])('parses no line with too many %s', async (_, line) => {
  const parsing = jest.spyOn(JSON, 'parse');
  const fault = await lines(`{}\n${line}`).catch((error: unknown) => error);
  const texts = parsing.mock.calls.map(([text]) => text);
  parsing.mockRestore();
  expect(fault).toMatchObject({ code: 'invalid_file', message: expect.stringContaining('Line 2 ') });
  expect(texts).toEqual(['{}']);
});

it('takes a long line', async () => {
  const line = JSON.stringify({ image: 'A'.repeat(1_000_000) });
  expect(await lines(line)).toMatchObject({ content_type: 'application/jsonl', bytes: line.length });
});

it('lets other work run between empty lines', async () => {
  let turns = 0;
  const other = setImmediate(() => (turns += 1));
  await lines(`${'\n'.repeat(300_000)}{}`);
  clearImmediate(other);
  expect(turns).toBe(1);
});
