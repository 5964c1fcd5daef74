import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RpcMessage } from './rpc.ts';
import { RpcClient } from './rpc-client.ts';

const request = (method: string, params: Record<string, unknown> = {}): RpcMessage => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});
const hello = request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x' } });
const call = request('tools/call', { name: 'generate_image', arguments: { prompt: 'a cat' } });

describe('a service that is away', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  });

  /** Answers each message with `answer`, on the port. */
  async function serve(port: number, answer: () => [status: number, body: string]): Promise<number> {
    const server = createServer((incoming, response) => {
      incoming.resume().on('end', () => {
        const [status, body] = answer();
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  async function freePort(): Promise<number> {
    const port = await serve(0, () => [200, '{}']);
    await new Promise((resolve) => servers.pop()!.close(resolve));
    return port;
  }
  const ask = async (client: RpcClient, message: RpcMessage): Promise<RpcMessage[]> => {
    const answers: RpcMessage[] = [];
    for await (const answer of client.send(message, new AbortController().signal)) answers.push(answer);
    return answers;
  };

  it('does not keep a client from starting, and answers once it is back', async () => {
    const port = await freePort();
    const client = new RpcClient(`http://127.0.0.1:${port}`, 'dr_key');
    const [hi] = await ask(client, hello);
    expect(hi!.result).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'darkroom' } });
    const [list] = await ask(client, request('tools/list'));
    const names = (list!.result!.tools as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['generate_image', 'generate_video', 'get_task']));
    const [failed] = await ask(client, call);
    expect(failed!.result).toMatchObject({ isError: true });
    expect(JSON.stringify(failed!.result)).toContain('cannot be reached');

    await serve(port, () => [200, JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [] } })]);
    expect(await ask(client, call)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', id: 1, result: { content: [] } },
    ]);
    expect(await ask(client, call)).toHaveLength(1);
  });

  it.each([502, 503, 504])('is also one before which a proxy answers %i', async (status) => {
    const port = await serve(0, () => [status, '<html>']);
    const [failed] = await ask(new RpcClient(`http://127.0.0.1:${port}`, 'dr_key'), call);
    expect(failed!.result).toMatchObject({ isError: true });
  });

  it('shows its tools to a client without a handshake, which asks again soon', async () => {
    const client = new RpcClient(`http://127.0.0.1:${await freePort()}`, 'dr_key');
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const [found] = await ask(client, request('server/discover', { _meta }));
    expect(found!.result).toMatchObject({ supportedVersions: ['2026-07-28'] });
    const [list] = await ask(client, request('tools/list', { _meta }));
    expect(list!.result).toMatchObject({ resultType: 'complete', ttlMs: 5_000 });
  });
});
