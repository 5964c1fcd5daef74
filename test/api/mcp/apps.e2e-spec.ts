import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Buffer } from 'node:buffer';
import { ERAS, mcpClient } from '../../support/clients/mcp.ts';
import { joinService, type SharedService } from '../../support/service.ts';

const DARKROOM = new URL('../../../dist/cli/darkroom.js', import.meta.url).pathname;
const URI = 'ui://darkroom/viewer';
const TYPE = 'text/html;profile=mcp-app';
/** A host keeps the page in memory for each result that it shows. */
const MAX_BYTES = 256 * 1024;
const WITH_VIEWER = ['generate_image', 'generate_video', 'get_task', 'retry_task'];

let service: SharedService;
beforeAll(async () => void (service = await joinService()));
afterAll(() => service?.close());

describe.each(ERAS)('the page for hosts of MCP Apps, %s', (era) => {
  const connect = () => mcpClient(era, new URL('/mcp', service.baseUrl), { key: service.api.key! });
  const metas = async (client: Client) => {
    const { tools } = await client.listTools();
    return Object.fromEntries(tools.filter(({ _meta }) => _meta).map(({ name, _meta }) => [name, _meta]));
  };

  it('is named by the tools whose answer is a task, and only there', async () => {
    const client = await connect();
    expect(await metas(client)).toEqual(
      Object.fromEntries(WITH_VIEWER.map((name) => [name, { ui: { resourceUri: URI } }])),
    );
    const { resources } = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith('ui:'))).toEqual([]);
    await client.close();
  });

  it('is named by the bridge over stdio too', async () => {
    const args = [DARKROOM, 'mcp', '--url', service.baseUrl];
    const env = { PATH: process.env.PATH!, DARKROOM_API_KEY: service.api.key! };
    const client = await mcpClient(era, new StdioClientTransport({ command: process.execPath, args, env }));
    expect(Object.keys(await metas(client))).toEqual(WITH_VIEWER);
    await client.close();
  });

  it('is one bounded file that may load nothing', async () => {
    const client = await connect();
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
