import type { Api } from './api.ts';

/** Pauses a model until `end`, so that no task ends before the test has looked at it. */
export async function pauseModel(api: Api, model: string): Promise<{ end(): Promise<void> }> {
  const pause = { model, reason: 'A test holds it.' };
  const { status, body, text } = await api.call<{ id: string }>('POST', '/v1/operations/pauses', pause);
  if (status !== 201) throw new Error(`No pause of ${model}: ${text}`);
  return {
    end: async () => {
      const ended = await api.call('DELETE', `/v1/operations/pauses/${body.id}`);
      if (ended.status !== 204) throw new Error(`The pause of ${model} did not end: ${ended.text}`);
    },
  };
}
