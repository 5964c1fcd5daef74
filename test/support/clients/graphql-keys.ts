import type { Api } from './api.ts';

/** Creates another API key; the key of `api` needs the scope keys:manage. */
export async function anotherKey(api: Api, settings: object = {}): Promise<{ id: string; key: string }> {
  const { status, body, text } = await api.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
    name: 'another',
    ...settings,
  });
  if (status !== 201) throw new Error(`No key was made: ${text}`);
  return body;
}
