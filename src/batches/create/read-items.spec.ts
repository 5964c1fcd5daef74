import { ApiError } from '../../errors/api-error.ts';
import { type GivenItem, readLines, readRequests } from './read-items.ts';

const verdictOf = ({ body }: GivenItem) => (body instanceof ApiError ? [body.code, body.param] : body);
const line = (fields: object) =>
  JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/videos', body: { prompt: 'x' }, ...fields });
const read = (text: string, maxItems = 10) => readLines(Buffer.from(text), '/v1/videos', maxItems);

describe('the items of a batch', () => {
  it('are read from a list', () => {
    const items = readRequests([{ body: { prompt: 'x' } }, { custom_id: 'b', body: {} }, null, { body: [] }], 4);
    expect(items.map(({ customId, line }) => [customId, line])).toEqual([
      [null, null],
      ['b', null],
      [null, null],
      [null, null],
    ]);
    expect(items.map(verdictOf)).toEqual([{ prompt: 'x' }, {}, ['invalid_type', null], ['invalid_type', 'body']]);
  });

  it('are read from lines, however they end; empty ones are no items', async () => {
    for (const newline of ['\n', '\r\n']) {
      const items = await read(['', line({}), '', line({ custom_id: 'b' })].join(newline) + newline);
      expect(items.map(({ customId, line }) => [customId, line])).toEqual([
        ['a', 2],
        ['b', 4],
      ]);
      expect(items.map(verdictOf)).toEqual([{ prompt: 'x' }, { prompt: 'x' }]);
    }
  });

  it('are read from a file that begins with a byte order mark', async () => {
    expect((await read(`\ufeff${line({})}\n${line({ custom_id: 'b' })}`)).map(verdictOf)).toEqual([
      { prompt: 'x' },
      { prompt: 'x' },
    ]);
  });

  it('are no lines of white space, however long', async () => {
    const items = await read(`   \r\n${line({})}\n \t \t \n${line({ custom_id: 'b' })}\n    `);
    expect(items.map(({ customId, line }) => [customId, line])).toEqual([
      ['a', 2],
      ['b', 4],
    ]);
  });

  it('let other work run between them, also if they are empty', async () => {
    let turns = 0;
    const other = setImmediate(() => (turns += 1));
    await read(`${'\n'.repeat(300_000)}${line({})}`);
    clearImmediate(other);
    expect(turns).toBe(1);
  });

  it('have a custom_id of 1 to 64 printable ASCII characters, each only once', () => {
    const of = (custom_id: unknown) => ({ custom_id, body: {} });
    const given = ['x'.repeat(64), '~ !', '', 'x'.repeat(65), 'é', 'a\n', 7, null, '~ !'];
    expect(readRequests(given.map(of), 20).map(verdictOf)).toEqual([
      {},
      {},
      ['invalid_value', 'custom_id'],
      ['invalid_value', 'custom_id'],
      ['invalid_value', 'custom_id'],
      ['invalid_value', 'custom_id'],
      ['invalid_type', 'custom_id'],
      ['invalid_type', 'custom_id'],
      ['invalid_value', 'custom_id'],
    ]);
  });

  it('are as many as allowed', async () => {
    const two = `${line({})}\n${line({ custom_id: 'b' })}`;
    expect(await read(two, 2)).toHaveLength(2);
    await expect(read(two, 1)).rejects.toMatchObject({ code: 'too_many_items', param: 'input_file_id' });
    await expect(read('\n\n')).rejects.toMatchObject({ code: 'invalid_value', param: 'input_file_id' });
    expect(() => readRequests([], 1)).toThrow(ApiError);
  });

  it('name the fault of a line that is no JSON, and keep the others', async () => {
    const items = await read(`{"a":\n${line({})}`);
    expect(items.map(verdictOf)).toEqual([['invalid_json', null], { prompt: 'x' }]);
    expect((items[0]!.body as ApiError).message).toMatch(/^The line is not valid JSON/);
  });
});
