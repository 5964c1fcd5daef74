import { Readable } from 'node:stream';
import { Bridge } from './bridge.ts';

describe('a result with links', () => {
  const link = { type: 'resource_link', uri: 'file:///out/a.png', name: 'a.png' };
  const made = { jsonrpc: '2.0' as const, id: 1, result: { content: [{ type: 'text', text: 'made' }, link] } };

  it.each([
    [true, link],
    [false, { type: 'text', text: 'a.png: file:///out/a.png' }],
  ])('has them as blocks if the revision of the client has those: %s', async (knowsLinks, shown) => {
    const written = Promise.withResolvers<string>();
    const client = { knowsLinks, send: async function* () { yield made; } }; // prettier-ignore
    const images = { replaceIn: async (given: object) => given };
    const bridge = new Bridge({ client, images, outputs: null } as never, { write: written.resolve } as never);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'generate_image', arguments: {} } };
    const lines = async function* () {
      yield `${JSON.stringify(call)}\n`;
      await written.promise; // a client that closes its end takes no more answers
    };
    await bridge.run(Readable.from(lines()));
    expect(JSON.parse(await written.promise).result.content).toEqual([{ type: 'text', text: 'made' }, shown]);
  });
});

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
