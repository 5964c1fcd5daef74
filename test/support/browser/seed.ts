import { eventually } from '../wait.ts';

export interface Seeded {
  picture: string;
  film: string;
  failed: string;
  endpointId: string;
  eventId: string;
  keyId: string;
  batchId: string;
}

const PROMPTS: [prompt: string, ratio: string][] = [
  ['A lighthouse at dusk, oil on canvas, heavy clouds breaking over the sea', '3:2'],
  ['A fox asleep in snow, macro photograph', '2:3'],
  ['Isometric map of a small harbour town, flat colours, clean lines', '16:9'],
  ['Product photo of a ceramic teapot on linen, soft window light', '1:1'],
  ['Portrait of a clockmaker at his bench', '4:5'],
  ['Two kites over a salt flat at noon', '21:9'],
  ['A brutalist library covered in ivy', '3:4'],
  ['Paper boats on a canal, top view', '4:3'],
];

/** Fills every screen: pictures, a film, a failure, an endpoint that refuses. */
export async function seed(baseUrl: string, key: string): Promise<Seeded> {
  const call = async (path: string, body?: unknown) => {
    const response = await fetch(baseUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  // Nothing listens at this address, so the deliveries fail.
  const endpoint = await call('/v1/webhook_endpoints', { url: 'http://127.0.0.1:9/hooks', description: 'the shop' });
  const make = async (body: object) => String((await call('/v1/generations', body))['task_id']);
  const pictures: string[] = [];
  for (const [prompt, ratio] of PROMPTS) {
    pictures.push(await make({ model: 'gpt-image-2', prompt, aspect_ratio: ratio, n: ratio === '2:3' ? 3 : 1 }));
  }
  const film = await make({
    model: 'sora-2',
    prompt: 'A train crosses a viaduct in fog',
    duration: 1,
    resolution: '720P',
  });
  const failed = await make({
    model: 'gpt-image-2',
    prompt: 'A cup of tea #fail:provider_timeout',
    metadata: { order: '1042' },
  });
  const requests = ['A red door', 'A blue door #fail:provider_timeout'].map((prompt) => ({
    body: { model: 'gpt-image-2', prompt },
  }));
  const batchId = String((await call('/v1/batches', { requests, metadata: { name: 'spring' } }))['id']);
  await eventually(
    'the end of the batch',
    async () => (await call(`/v1/batches/${batchId}`))['status'] === 'completed',
  );
  await eventually('the end of all tasks', async () => {
    const states = await Promise.all([...pictures, film, failed].map((id) => call(`/v1/tasks/${id}`)));
    return states.every(({ status }) => status === 'succeeded' || status === 'failed');
  });
  const first = async (path: string) =>
    eventually(`the first of ${path}`, async () => ((await call(path))['data'] as Record<string, unknown>[])[0]);
  const endpointId = String(endpoint['id']);
  const eventId = String((await first(`/v1/webhook_endpoints/${endpointId}/deliveries`))['event_id']);
  const keyId = String((await first('/v1/api_keys'))['id']);
  return { picture: pictures[1] as string, film, failed, endpointId, eventId, keyId, batchId };
}
