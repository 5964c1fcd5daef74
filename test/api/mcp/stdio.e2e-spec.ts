import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { blocksOf } from '../../../scripts/docs-check/blocks.ts';
import { type SharedService, joinService } from '../../support/service.ts';
import { byName, ERAS, type Era, faultOf, mcpClient, MODERN, taskOf } from '../../support/clients/mcp.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';

const DARKROOM = new URL('../../../dist/cli/darkroom.js', import.meta.url).pathname;

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
  const picture = sharp({ create: { width: 64, height: 48, channels: 3, background: 'teal' } });
  writeFileSync(join(folder, 'in.png'), await picture.png().toBuffer());
  writeFileSync(join(folder, 'notes.txt'), 'no image');
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = (key = service.api.key!, url = service.baseUrl) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [DARKROOM, 'mcp', '--url', url, '--out', 'out'],
    env: { PATH: process.env.PATH!, DARKROOM_API_KEY: key },
    cwd: folder,
  });

it.each(ERAS)('darkroom mcp starts without its service in the %s era, and its tools say so', async (era) => {
  const nowhere = 'http://127.0.0.1:9'; // the port of no service
  const client = await mcpClient(era, start(service.api.key!, nowhere));
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(9);
  const failed = (await client.callTool({ name: 'list_models', arguments: {} })) as CallToolResult;
  expect([failed.isError, faultOf(failed).code]).toEqual([true, 'connection_failed']);
  await client.close();
});

describe.each(ERAS)('darkroom mcp with the official client in the %s era', (era: Era) => {
  let client: Client;
  beforeAll(async () => void (client = await mcpClient(era, start())));
  afterAll(() => client.close());

  const call = (name: string, given: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: given }) as Promise<CallToolResult>;

  it('lists the tools of the service, and says that images may be paths', async () => {
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(9);
    const { properties } = byName(tools, 'generate_image').inputSchema as { properties: Record<string, any> };
    expect(properties.reference_images.description).toMatch(/path of an image/);
  });

  it('calls every tool', async () => {
    const image = taskOf(await call('generate_image', { prompt: 'Over stdio' }));
    expect(image).toMatchObject({ status: 'succeeded', source: 'mcp' });
    const { task_id } = image;
    const video = taskOf(await call('generate_video', { prompt: 'Over stdio', duration: 1, resolution: '720P' }));
    expect(video).toMatchObject({ status: 'succeeded', kind: 'video' });
    expect(taskOf(await call('get_task', { task_id })).task_id).toBe(task_id);
    expect(taskOf(await call('retry_task', { task_id })).relation).toBe('retry');
    expect(taskOf(await call('cancel_task', { task_id })).status).toBe('succeeded');
    for (const name of ['list_tasks', 'list_models', 'get_usage']) {
      expect((await call(name)).structuredContent).toMatchObject({ object: expect.stringMatching(/list|page/) });
    }
  });

  it('saves the outputs and links them as files', async () => {
    const result = await call('generate_image', { prompt: 'To a file' });
    const links = result.content.filter((block) => block.type === 'resource_link');
    expect(links).toHaveLength(1);
    expect(links[0]!.uri).toMatch(/^file:/);
    const path = fileURLToPath(links[0]!.uri);
    expect(path).toBe(join(folder, 'out', links[0]!.name));
    expect(readFileSync(path)).toHaveLength(links[0]!.size!);
    expect(readdirSync(join(folder, 'out')).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it.each([
    ['a path', () => 'in.png'],
    ['a file: URL', () => pathToFileURL(join(folder, 'in.png')).href],
  ])('takes %s for an image', async (_what, image) => {
    const task = taskOf(await call('generate_image', { prompt: 'Edit it', reference_images: [image()] }));
    expect(task).toMatchObject({ status: 'succeeded', input: { reference_images: [expect.stringMatching(/^file_/)] } });
  });

  it.each([
    ['is not there', 'nowhere.png'],
    ['is no image', 'notes.txt'],
    ['is no file of its folders', '/etc/hostname'],
  ])('tells the agent what it may name, where what it named %s', async (_, path) => {
    const result = await call('generate_image', { prompt: 'x', reference_images: [path] });
    expect(result.isError).toBe(true);
    const message = expect.stringContaining(`a JPEG, PNG or WebP file below ${folder}`);
    expect(faultOf(result)).toMatchObject({ param: 'reference_images[0]', message });
  });

  it('cancels a waiting task when the client gives up', async () => {
    const prompt = `Given up ${era} #hang`;
    const controller = new AbortController();
    const given = client.callTool({ name: 'generate_image', arguments: { prompt } }, { signal: controller.signal });
    const tasks = () =>
      queryOnce<{ id: string }>(service.database.url, `select id from tasks where input->>'prompt' = $1`, [prompt]);
    const [task] = await eventually('the task', async () => {
      const found = await tasks();
      return found.length > 0 && found;
    });
    controller.abort();
    await expect(given).rejects.toThrow();
    await eventually('the hang-up to be recorded', async () => {
      const [row] = await queryOnce<{ hung_up_at: Date | null }>(
        service.database.url,
        'select hung_up_at from calls where task_id = $1',
        [task!.id],
      );
      return row?.hung_up_at;
    });
    await service.api.cancel(task!.id);
  });
});

it('refuses a wrong key in the words of the service', async () => {
  await expect(mcpClient('legacy', start(`dr_${'0'.repeat(46)}`))).rejects.toThrow(/invalid_api_key/);
});

it('is started by npm with nothing but the protocol on stdout', async () => {
  const transport = new StdioClientTransport({
    command: 'npm',
    args: ['run', '--silent', 'darkroom', '--', 'mcp', '--url', service.baseUrl],
    env: { PATH: process.env.PATH!, HOME: process.env.HOME!, DARKROOM_API_KEY: service.api.key! },
    cwd: new URL('../../..', import.meta.url).pathname,
  });
  const broken: Error[] = [];
  transport.onerror = (error) => broken.push(error);
  const client = await mcpClient('modern', transport);
  expect(client.getNegotiatedProtocolVersion()).toBe(MODERN);
  expect(broken).toEqual([]);
  await client.close();
});

/** The address, the key and the paths of this machine; a client asks for `${input:…}` and reads `${env:…}`. */
function filledIn(text: string): File {
  const typed = text
    .replaceAll('http://127.0.0.1:3000', service.baseUrl)
    .replaceAll(/dr_…|\$\{(?:input|env):\w+\}/g, service.api.key!)
    .replaceAll('/path/to/darkroom', root.replace(/\/$/, ''))
    .replaceAll('/path/to/pictures', join(folder, 'guide'));
  return JSON.parse(typed) as File;
}

const transportOf = (server: Server) =>
  'url' in server
    ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } })
    : new StdioClientTransport({ ...server, env: { PATH: process.env['PATH']!, ...server.env } });

/** Connects as the clients do that read these files: VS Code, Cursor and Claude Desktop. */
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
      if (!('url' in server!)) expect(readdirSync(join(folder, 'guide'))).toHaveLength(1);
    } finally {
      await client.close();
    }
  });
});
