import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Buffer } from 'node:buffer';
import { ERAS, mcpClient } from '../../support/clients/mcp.ts';
import { joinService, type SharedService } from '../../support/service.ts';

const DARKROOM = new URL('../../../dist/cli/darkroom.js', import.meta.url).pathname;
const URI = 'ui://darkroom/viewer';
const TYPE = 'text/html;profile=mcp-app';
const UI = { 'io.modelcontextprotocol/ui': { mimeTypes: [TYPE] } };
/** A host keeps the page in memory for each result that it shows. */
const MAX_BYTES = 256 * 1024;
const WITH_VIEWER = ['generate_image', 'generate_video', 'get_task', 'retry_task'];

let service: SharedService;
beforeAll(async () => void (service = await joinService()));
afterAll(() => service?.close());

describe.each(ERAS)('pages for hosts, %s', (era) => {
  const connect = (extensions?: Record<string, object>) =>
    mcpClient(era, new URL('/mcp', service.baseUrl), { key: service.api.key!, ...(extensions && { extensions }) });
  const metas = async (client: Client) => {
    const { tools } = await client.listTools();
    return Object.fromEntries(tools.filter(({ _meta }) => _meta).map(({ name, _meta }) => [name, _meta]));
  };

  it('are named by the tools whose answer is a task, and listed', async () => {
    const client = await connect(UI);
    expect(await metas(client)).toEqual(
      Object.fromEntries(WITH_VIEWER.map((name) => [name, { ui: { resourceUri: URI } }])),
    );
    const { resources } = await client.listResources();
    expect(resources[0]).toMatchObject({ uri: URI, mimeType: TYPE });
    await client.close();
  });

  it('are named by the bridge over stdio too', async () => {
    const args = [DARKROOM, 'mcp', '--url', service.baseUrl];
    const env = { PATH: process.env.PATH!, DARKROOM_API_KEY: service.api.key! };
    const bridge = new StdioClientTransport({ command: process.execPath, args, env });
    const client = await mcpClient(era, bridge, { extensions: UI });
    expect(Object.keys(await metas(client))).toEqual(WITH_VIEWER);
    await client.close();
  });

  it.each([
    ['does not show them', undefined],
    ['shows others', { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html+other'] } }],
    ['says nothing of types', { 'io.modelcontextprotocol/ui': {} }],
  ])('are not seen by a client that %s', async (_what, extensions) => {
    const client = await connect(extensions);
    expect(await metas(client)).toEqual({});
    const { resources } = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith('ui:'))).toEqual([]);
    await client.close();
  });

  it('are one bounded file that may load nothing', async () => {
    const client = await connect(UI);
    const { contents } = await client.readResource({ uri: URI });
    const [page] = contents as { uri: string; mimeType: string; text: string; _meta: object }[];
    expect(page).toMatchObject({ uri: URI, mimeType: TYPE });
    const none = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
    expect(page!._meta).toEqual({ ui: { csp: none, prefersBorder: true } });
    expect(Buffer.byteLength(page!.text)).toBeLessThan(MAX_BYTES);
    const markup = page!.text.replaceAll(/(<script\b[^>]*>)[\s\S]*?<\/script>/g, '$1');
    expect(markup).toContain('<script type="module">');
    expect(markup).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)=|@import|url\(/);
    await client.close();
  });
});

it('say the session of a client of 2025 by its id, which any process understands', async () => {
  const call = (method: string, params: object, headers: object = {}) =>
    service.api.call<any>(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method, params },
      {
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    );
  const hello = { protocolVersion: '2025-11-25', clientInfo: { name: 'raw', version: '1' } };
  const begun = await call('initialize', { ...hello, capabilities: { extensions: UI } });
  expect([begun.status, begun.headers.get('mcp-session-id')]).toEqual([200, 'apps']);
  const plain = await call('initialize', { ...hello, capabilities: {} });
  expect([plain.status, plain.headers.has('mcp-session-id')]).toEqual([200, false]);
  const other = await call('tools/list', {}, { 'mcp-session-id': 'another' });
  expect(other.text).toContain('generate_image');
  expect(other.text).not.toContain(URI);
});
