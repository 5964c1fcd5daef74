import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const baseUrl = process.env['DARKROOM_URL']!;
const headers = { authorization: `Bearer ${process.env['DARKROOM_API_KEY']}` };
const client = createClient<paths>({ baseUrl, headers });

const created = await client.POST('/v1/generations', {
  body: { model: 'gpt-image-2', prompt: 'A lighthouse', resolution: '1K' },
  params: { header: { Prefer: 'wait=30' } },
});
if (created.error) throw new Error(created.error.error.code);
const task = created.data;
if (task.status !== 'succeeded') throw new Error(task.status);
const id = task.result.outputs[0]!.id;
const { data } = await client.GET('/v1/files/{id}/content', { params: { path: { id } }, parseAs: 'blob' });
console.log((data as unknown as Blob).type);
