import type { IncomingMessage, ServerResponse } from 'node:http';

/** The fault of one request. */
export type Fault =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** The connection breaks before the request takes effect. */
  | 'reset'
  /** The connection breaks after the request took effect. */
  | 'lose reply'
  /** No response ever arrives. */
  | 'hang'
  /** 200 with a body that is not JSON. */
  | 'junk';

export interface SeenRequest {
  method: string;
  path: string;
  headers: Record<string, unknown>;
  bodyHash: string;
  json: Record<string, unknown> | null;
  at: number;
}

export interface Reply {
  status: number;
  body: unknown;
}

export const ok = (body: unknown = null): Reply => ({ status: 200, body });

/** The errors that the server reports for a node: missing files, unknown uploads, wrong types. */
export function faultsOf(
  inputs: Record<string, unknown>,
  { missing, uploads }: { missing: Set<string>; uploads: Map<string, Buffer> },
): object[] {
  return Object.entries(inputs).flatMap(([name, value]) => {
    if (typeof value === 'string' && missing.has(value)) {
      return [{ type: 'value_not_in_list', message: 'Value not in list', details: `${name}: '${value}' not in []` }];
    }
    if (name === 'image' && typeof value === 'string' && !uploads.has(value)) {
      return [{ type: 'custom_validation_failed', message: 'Custom validation failed', details: `image - ${value}` }];
    }
    const isNumeric = ['width', 'height', 'batch_size', 'seed', 'noise_seed', 'length'].includes(name);
    if (isNumeric && !Array.isArray(value) && !(Number.isSafeInteger(value) && Number(value) >= 0)) {
      return [{ type: 'invalid_input_type', message: 'Failed to convert', details: `${name}, ${String(value)}` }];
    }
    return [];
  });
}

export function refusal(type: string, message: string, nodeErrors: object = {}): Reply {
  return { status: 400, body: { error: { type, message, details: '', extra_info: {} }, node_errors: nodeErrors } };
}

export function matches(pattern: string, route: string): boolean {
  const parts = route.split('/');
  const segments = pattern.split('/');
  return parts.length === segments.length && segments.every((part, i) => part === '*' || part === parts[i]);
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body));
}

export async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
