import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from '../../../scripts/docs-check/blocks.ts';
import { type SharedService, joinService } from '../../support/service.ts';

/** Connects as the clients do that read these files: VS Code, Cursor and Claude Desktop. */

const root = new URL('../../../', import.meta.url).pathname;
const configurations = blocksOf(root, 'docs/guides/mcp.md').filter(({ language }) => language === 'json');

type Server = { url: string; headers: Record<string, string> } | { command: string; args: string[]; env: object };
interface File {
  servers?: Record<string, Server>;
  mcpServers?: Record<string, Server>;
}

let service: SharedService;
let folder: string;
beforeAll(async () => {
  service = await joinService();
  folder = mkdtempSync(join(tmpdir(), 'darkroom-mcp-'));
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** The address, the key and the paths of this machine; a client asks for `${input:…}` and reads `${env:…}`. */
function filledIn(text: string): File {
  const typed = text
    .replaceAll('http://127.0.0.1:3000', service.baseUrl)
    .replaceAll(/dr_…|\$\{(?:input|env):\w+\}/g, service.api.key!)
    .replaceAll('/path/to/darkroom', root.replace(/\/$/, ''))
    .replaceAll('/path/to/pictures', folder);
  return JSON.parse(typed) as File;
}

const transportOf = (server: Server) =>
  'url' in server
    ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } })
    : new StdioClientTransport({ ...server, env: { PATH: process.env['PATH']!, ...server.env } });

describe('the configurations of docs/guides/mcp.md', () => {
  it('are for three clients', () => expect(configurations).toHaveLength(3));

  it.each(configurations)('line $line connects and makes a picture', async ({ text }) => {
    const { servers, mcpServers } = filledIn(text);
    const [server] = Object.values((servers ?? mcpServers)!);
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transportOf(server!));
    try {
      const { structuredContent } = await client.callTool({ name: 'generate_image', arguments: { prompt: 'A hut' } });
      expect(structuredContent).toMatchObject({ status: 'succeeded' });
      if (!('url' in server!)) expect(readdirSync(folder)).toHaveLength(1);
    } finally {
      await client.close();
    }
  });
});
