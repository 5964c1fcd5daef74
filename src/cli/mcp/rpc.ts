/** A message of JSON-RPC: the fields that the bridge reads. */
export interface RpcMessage {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** The first of the codes that JSON-RPC leaves to servers for errors of their own. */
const SERVER_ERROR = -32_000;
export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;

export const isMessage = (given: unknown): given is RpcMessage =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

export const isRequest = ({ id, method }: RpcMessage): boolean =>
  method !== undefined && id !== undefined && id !== null;

export const rpcError = (id: RpcMessage['id'], message: string, data?: unknown, code = SERVER_ERROR): RpcMessage => ({
  jsonrpc: '2.0',
  id: id ?? null,
  error: { code, message, ...(data !== undefined && { data }) },
});

/** The result of a failed call of a tool, in the form that the service uses and an agent can read. */
export const toolFailure = (
  id: RpcMessage['id'],
  error: { code: string; param: string | null; message: string },
): RpcMessage => ({
  jsonrpc: '2.0',
  id: id ?? null,
  result: {
    resultType: 'complete',
    content: [{ type: 'text', text: JSON.stringify({ error }) }],
    isError: true,
  },
});
