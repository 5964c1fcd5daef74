import { client } from './sdk/client.gen.js';
import { createGeneration, getFile, listTasks } from './sdk/index.js';

client.setConfig({ baseUrl: process.env['DARKROOM_URL']!, auth: () => process.env['DARKROOM_API_KEY']! });

const { data: task } = await createGeneration({
  body: { model: 'gpt-image-2', prompt: 'A lighthouse', resolution: '1K' },
  headers: { Prefer: 'wait=30' },
  throwOnError: true,
});
if (task.status !== 'succeeded') throw new Error(task.status);
const list = await listTasks({ throwOnError: true });
if (list.data.data.length === 0) throw new Error('no task');
const { data } = await getFile({ path: { id: task.result.outputs[0]!.id }, throwOnError: true });
console.log((data as Blob).type);
