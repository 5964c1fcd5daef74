// A host of MCP Apps, for a page: the bridge of the official package over the official client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const UI = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

/** Calls a tool and shows its page. Resolves when the result has been sent to the page. */
globalThis.showCall = async ({ url, key, name, given, theme }) => {
  const client = new Client(
    { name: 'host', version: '1.0.0' },
    { versionNegotiation: { mode: 'legacy' }, capabilities: { extensions: UI } },
  );
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const { resourceUri } = tools.find((tool) => tool.name === name)._meta.ui;
  const { contents } = await client.readResource({ uri: resourceUri });
  await fetch('/view', { method: 'PUT', body: contents[0].text });

  globalThis.said = [];
  globalThis.opened = [];
  const frame = document.createElement('iframe');
  frame.title = 'Viewer';
  frame.sandbox = 'allow-scripts'; // all that a host has to let a page do
  document.body.replaceChildren(frame);
  const able = { serverTools: {}, serverResources: {}, openLinks: {}, updateModelContext: { text: {} } };
  const bridge = new AppBridge(client, { name: 'host', version: '1.0.0' }, able, { hostContext: { theme } });
  bridge.onopenlink = async ({ url: link }) => {
    globalThis.opened.push(link);
    return {};
  };
  bridge.onupdatemodelcontext = async ({ content }) => {
    globalThis.said.push(content[0].text);
    return {};
  };
  bridge.onsizechange = ({ height }) => (frame.style.height = `${height}px`);
  const isReady = new Promise((resolve) => (bridge.oninitialized = resolve));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = '/view';
  await isReady;
  await bridge.sendToolInput({ arguments: given });
  const result = await client.callTool({ name, arguments: given });
  await bridge.sendToolResult(result);
};
