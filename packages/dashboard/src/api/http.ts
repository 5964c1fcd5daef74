import { CallError, fromResponse } from './errors.ts';

/**
 * A REST call to the page's own origin, with the session cookie.
 * @throws CallError
 */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(path, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    cache: 'no-store',
  }).catch(() => {
    throw new CallError('The service does not answer.');
  });
  if (!response.ok) throw await fromResponse(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}
