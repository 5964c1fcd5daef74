import { DISCOVER, INITIALIZE, MODERN_LIST, TOOLS } from './answers.gen.ts';
import { isRequest, rpcError, type RpcMessage, toolFailure } from './rpc.ts';

/**
 * Revisions of the protocol with a handshake. A client that asks for another revision gets the newest of these
 * revisions, as the protocol says.
 */
const WITH_HANDSHAKE = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
/**
 * Milliseconds after which a client of a revision without handshakes asks for the tools again. Until then it has the
 * tools of this release.
 */
const LIST_TTL_MS = 5_000;

export const TOOLS_CHANGED: RpcMessage = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

/**
 * The answer to a request while the service cannot be reached. MCP clients drop a server that fails when they start it,
 * and do not start it again. So the first requests are answered, and a call of a tool says what is wrong.
 * @param why a sentence that says that the service cannot be reached
 */
export function answerWhenAway(request: RpcMessage, why: string): RpcMessage {
  const result = resultOf(request);
  if (result) return { jsonrpc: '2.0', id: request.id ?? null, result };
  if (request.method !== 'tools/call') return rpcError(request.id, why);
  const message = `${why} Call the tool again when the service is back: an equal call gets the task of this one, if it has made one.`;
  return toolFailure(request.id, { code: 'connection_failed', param: null, message });
}

function resultOf({ method, params }: RpcMessage): Record<string, unknown> | null {
  const asked = params?.protocolVersion as string;
  switch (method) {
    case 'initialize':
      return {
        ...INITIALIZE,
        protocolVersion: WITH_HANDSHAKE.includes(asked) ? asked : WITH_HANDSHAKE[0],
        capabilities: { ...INITIALIZE.capabilities, tools: { listChanged: true } },
      };
    case 'server/discover':
      return { ...DISCOVER, ttlMs: LIST_TTL_MS };
    case 'tools/list':
      return { ...(isModern(params) && { ...MODERN_LIST, ttlMs: LIST_TTL_MS }), tools: structuredClone(TOOLS) };
    case 'ping':
      return {};
    default:
      return null;
  }
}

/** Whether the client's revision has no handshake: its requests then name the revision. */
const isModern = (params: RpcMessage['params']): boolean =>
  (params?._meta as Record<string, unknown> | undefined)?.['io.modelcontextprotocol/protocolVersion'] !== undefined;

/**
 * Whether the request makes the client keep the tool list of this release. The service may have other tools. A client
 * without handshake keeps no list: it asks again after LIST_TTL_MS.
 */
export const hasOldTools = (request: RpcMessage): boolean =>
  isRequest(request) && request.method === 'tools/list' && !isModern(request.params);
