import { Client, type CallToolResult, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { TaskBody } from './api.ts';

/** The two eras of the protocol: `legacy` has a handshake, `modern` has none. */
export const ERAS = ['legacy', 'modern'] as const;
export type Era = (typeof ERAS)[number];

export const MODERN = '2026-07-28';
export const TASKS = 'io.modelcontextprotocol/tasks';

/** The official client, restricted to one era. */
export async function mcpClient(
  era: Era,
  transport: ConstructorParameters<typeof StreamableHTTPClientTransport>[0] | StdioClientTransport,
  { key, extensions }: { key?: string; extensions?: Record<string, object> } = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: MODERN } },
      ...(extensions && { capabilities: { extensions: extensions as never } }),
    },
  );
  const connected =
    transport instanceof URL
      ? new StreamableHTTPClientTransport(transport, { requestInit: { headers: { authorization: `Bearer ${key}` } } })
      : transport;
  await client.connect(connected);
  return client;
}

export const taskOf = ({ structuredContent }: CallToolResult): TaskBody => structuredContent as unknown as TaskBody;

export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

export interface ToolFault {
  code: string;
  param: string | null;
  message: string;
}

/** The error in the answer of a tool. */
export const faultOf = (result: CallToolResult): ToolFault =>
  (JSON.parse(textOf(result)) as { error: ToolFault }).error;

export const byName = (tools: Tool[], name: string): Tool => tools.find((tool) => tool.name === name)!;
