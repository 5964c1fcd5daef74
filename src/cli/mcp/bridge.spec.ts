import { Readable } from 'node:stream';
import { Bridge } from './bridge.ts';

describe('a line of an MCP client', () => {
  it.each([
    ['null', -32_600],
    ['7', -32_600],
    ['[null]', -32_600],
    ['{', -32_700],
  ])('%s gets an error, and the bridge goes on', async (line, code) => {
    const written: string[] = [];
    const output = { write: (text: string) => written.push(text) };
    const bridge = new Bridge({ client: {}, images: {}, outputs: null } as never, output as never);
    await bridge.run(Readable.from([`${line}\n`]));
    expect(written.map((text) => JSON.parse(text))).toEqual([
      { jsonrpc: '2.0', id: null, error: { code, message: expect.any(String) } },
    ]);
  });
});
