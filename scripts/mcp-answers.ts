import { createMcpHandler } from '@modelcontextprotocol/server';

const META = 'io.modelcontextprotocol';
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const TOOLS = ['generate-image', 'generate-video', 'get-task', 'list-tasks', 'cancel-task', 'retry-task', 'keep-task', 'list-models', 'get-usage']; // prettier-ignore
const CLIENT = { name: 'darkroom', version: '0.0.0' };

/**
 * The answers of the MCP server to the first requests of a client. The bridge gives them while the service cannot be
 * reached.
 * @param built imports a file of the built service
 * @returns the source of a module
 */
export async function mcpAnswers(built: (path: string) => Promise<any>, config: object): Promise<string> {
  const [{ ToolsService }, { ProtocolServer }, ...files] = await Promise.all(
    ['tools.service', '../protocol/protocol-server', ...TOOLS.map((name) => `${name}.tool`)].map((name) =>
      built(`mcp/tools/${name}.js`),
    ),
  );
  const tools = files.map((file) => new (Object.values<any>(file)[0])(config)); // the descriptions need nothing that the tools call
  const server = new ProtocolServer(new ToolsService(null, ...tools), null, null);
  const exchange = {
    gone: new AbortController().signal,
    request: { raw: { headers: {} } },
    caller: { models: null },
  };
  const { fetch } = createMcpHandler(() => server.of(exchange), { legacy: 'stateless', maxSubscriptions: 0 });
  const ask = async (version: string, method: string, params: object = {}) => {
    const isModern = version === MODERN;
    const _meta = {
      [`${META}/protocolVersion`]: version,
      [`${META}/clientInfo`]: CLIENT,
      [`${META}/clientCapabilities`]: {},
    };
    const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, ...(isModern && { _meta }) } };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      ...(isModern && { 'mcp-method': method }),
    };
    const answer = await fetch(
      new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(message) }),
    );
    const text = await answer.text();
    const { result } = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
    if (!result) throw new Error(`${method}: ${text}`);
    return result;
  };
  const hello = { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT };
  const initialize = await ask(LEGACY, 'initialize', hello);
  const discover = await ask(MODERN, 'server/discover');
  const { tools: described, ...ofModern } = await ask(MODERN, 'tools/list');
  const { tools: ofLegacy, ...more } = await ask(LEGACY, 'tools/list');
  if (JSON.stringify([ofLegacy, more]) !== JSON.stringify([described, {}])) throw new Error('The two lists differ.');
  const constant = (name: string, value: object) => `export const ${name} = ${JSON.stringify(value, null, 2)};\n`;
  return [
    '// Written by `npm run schema`.\n\n',
    constant('INITIALIZE', initialize),
    constant('DISCOVER', discover),
    // Without the schemas of results, which are five times as long as the rest.
    constant(
      'TOOLS',
      described.map((tool: object) => ({ ...tool, outputSchema: undefined })),
    ),
    constant('MODERN_LIST', ofModern),
  ].join('');
}
