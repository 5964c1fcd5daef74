import type { ProtocolError } from '@modelcontextprotocol/server';
import type { ApiError } from '../../errors/api-error.ts';
import { toErrorBody } from '../../errors/error.filter.ts';

/** An error of ours as one of JSON-RPC, with our code in its data. For methods that have no result to carry it. */
export async function toProtocolError(error: ApiError, requestId: string): Promise<ProtocolError> {
  const { ProtocolError, ProtocolErrorCode } = await import('@modelcontextprotocol/server');
  const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, error.message, toErrorBody(error, requestId).error);
}
