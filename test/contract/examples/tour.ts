import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../../support/wait.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import type { TestService } from '../../support/service.ts';
import { Recorder, type Recording } from './recorder.ts';

const LIGHTHOUSE = {
  model: 'gpt-image-2',
  prompt: 'A lighthouse at dusk',
  aspect_ratio: '3:2',
  resolution: '1K',
  metadata: { order: '1042' },
};
const HANG = { model: 'gpt-image-2', prompt: 'A slow river #hang' };

/** Calls every operation of the service once with success, in an order in which that is possible. */
export async function tour(service: TestService): Promise<Map<string, Recording>> {
  const recorder = new Recorder(service.baseUrl, service.api.key!);
  const receiver = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end()));
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
  try {
    const { endpointId } = await hooksTour(recorder, hooks);
    const taskId = await tasksTour(recorder);
    await filesTour(recorder);
    await batchesTour(recorder);
    await openaiTour(recorder);
    await deliveriesTour(recorder, endpointId, taskId);
    await keysTour(recorder, service);
    await operationsTour(recorder);
  } finally {
    receiver.close();
  }
  return recorder.recordings;
}

async function hooksTour(recorder: Recorder, url: string): Promise<{ endpointId: string }> {
  const events = ['task.completed', 'task.failed'];
  const body = { url, events, description: 'the shop' };
  const { id } = await recorder.call('POST', '/v1/webhook_endpoints', { body });
  await recorder.call('GET', '/v1/webhook_endpoints');
  await recorder.call('GET', `/v1/webhook_endpoints/${id}`);
  return { endpointId: id };
}

async function tasksTour(recorder: Recorder): Promise<string> {
  const { task_id: id } = await recorder.call('POST', '/v1/generations', { body: LIGHTHOUSE });
  await recorder.call('GET', `/v1/tasks/${id}/estimate`);
  await recorder.call('GET', `/v1/tasks/${id}/events`);
  await untilFinal(recorder, id);
  await recorder.call('GET', `/v1/tasks/${id}`);
  await recorder.call('GET', `/v1/tasks/${id}/timeline`);
  await recorder.call('PUT', `/v1/tasks/${id}/keep`, { body: { collection: 'Covers' } });
  await recorder.call('DELETE', `/v1/tasks/${id}/keep`);
  await recorder.call('PUT', `/v1/files/${id.replace('task_', 'file_')}_0/keep`, { body: { collection: 'Covers' } });
  await recorder.call('DELETE', `/v1/files/${id.replace('task_', 'file_')}_0/keep`);
  const file_ids = [`${id.replace('task_', 'file_')}_0`];
  await recorder.call('POST', '/v1/files/archive', { body: { file_ids } });
  const share = { file_ids, show_prompt: true };
  const end = { expires_at: Math.floor(Date.now() / 1000) + 7 * 86_400 };
  const { id: shareId } = await recorder.call('POST', '/v1/shares', { body: { ...share, ...end } });
  await recorder.call('GET', '/v1/shares');
  await recorder.call('DELETE', `/v1/shares/${shareId}`);
  await recorder.call('GET', '/v1/tasks?limit=2');
  await recorder.call('GET', '/v1/tasks/counts');
  await recorder.call('POST', '/v1/estimates', { body: LIGHTHOUSE });
  const retry = { input: { prompt: 'A lighthouse in fog' } };
  const { task_id: retried } = await recorder.call('POST', `/v1/tasks/${id}/retry`, { body: retry });
  const { task_id: hanging } = await create(recorder, HANG);
  await recorder.firstEvent('/v1/events');
  await recorder.call('POST', `/v1/tasks/${hanging}/cancel`);
  await recorder.call('POST', '/v1/tasks/cancel', { body: { ids: [hanging] } });
  await recorder.call('DELETE', `/v1/tasks/${hanging}`);
  await untilFinal(recorder, retried);
  await recorder.call('GET', '/v1/models');
  await recorder.call('GET', '/v1/models/gpt-image-2');
  await recorder.call('GET', `/v1/usage?start_time=${Math.floor(Date.now() / 1000) - 86_400}`);
  await recorder.call('GET', '/v1/about');
  await recorder.call('GET', '/healthz');
  await recorder.call('GET', '/readyz');
  return id;
}

async function filesTour(recorder: Recorder): Promise<void> {
  const picture = await fetch(
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  );
  const bytes = await picture.arrayBuffer();
  const body = { filename: 'lighthouse.png', bytes: bytes.byteLength, content_type: 'image/png' };
  const upload = await recorder.call('POST', '/v1/files', { body });
  await fetch(upload.upload.url, { method: 'PUT', headers: upload.upload.headers ?? {}, body: bytes });
  await recorder.call('POST', `/v1/files/${upload.id}/complete`);
  await recorder.call('GET', `/v1/files/${upload.id}`);
  await recorder.call('GET', '/v1/files');
  await recorder.call('DELETE', `/v1/files/${upload.id}`);
}

async function batchesTour(recorder: Recorder): Promise<void> {
  const requests = [
    { custom_id: 'red', body: { model: 'gpt-image-2', prompt: 'A red bicycle', resolution: '1K' } },
    { custom_id: 'blue', body: { model: 'gpt-image-2', prompt: 'A blue bicycle', resolution: '1K' } },
  ];
  const { id } = await recorder.call('POST', '/v1/batches', { body: { requests, metadata: { campaign: 'spring' } } });
  await recorder.call('GET', `/v1/batches/${id}/events`);
  await recorder.call('GET', `/v1/batches/${id}`);
  await recorder.call('GET', `/v1/batches/${id}/results`);
  await recorder.call('GET', '/v1/batches');
  const hanging = await recorder.call('POST', '/v1/batches', {
    body: { requests: [{ body: HANG }] },
    isUnrecorded: true,
  });
  await recorder.call('POST', `/v1/batches/${hanging.id}/cancel`);
}

async function openaiTour(recorder: Recorder): Promise<void> {
  await recorder.call('POST', '/v1/images/generations', {
    body: { model: 'gpt-image-2', prompt: 'A fox', size: '1024x1024', response_format: 'url' },
  });
  const body = { model: 'sora-2', prompt: 'A wave', seconds: '4', size: '1280x720' };
  const { id } = await recorder.call('POST', '/v1/videos', { body });
  await eventually(
    'the video',
    async () => (await recorder.call('GET', `/v1/videos/${id}`, { isUnrecorded: true })).status === 'completed',
  );
  await recorder.call('GET', `/v1/videos/${id}`);
  await recorder.call('GET', '/v1/videos');
  const remix = await recorder.call('POST', `/v1/videos/${id}/remix`, { body: { prompt: 'A wave at night' } });
  await recorder.call('POST', `/v1/tasks/${remix.id}/cancel`, { isUnrecorded: true }); // saves a film
  await recorder.call('DELETE', `/v1/videos/${id}`);
  const form = new FormData();
  form.append('model', 'gpt-image-2');
  form.append('prompt', 'In snow');
  form.append('response_format', 'url');
  const png = await fetch(
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  );
  form.append('image', await png.blob(), 'fox.png');
  await recorder.call('POST', '/v1/images/edits', { form });
}

async function deliveriesTour(recorder: Recorder, id: string, taskId: string): Promise<void> {
  const path = `/v1/webhook_endpoints/${id}`;
  const ofTask = `${path}/deliveries?task_id=${taskId}`;
  const since = Math.floor(Date.now() / 1000) - 3600;
  const deliveries = await eventually('a delivery', async () => {
    const { data } = await recorder.call('GET', ofTask, { isUnrecorded: true });
    return data.length > 0 && data;
  });
  await recorder.call('GET', ofTask);
  await recorder.call('GET', `/v1/webhook_events/${deliveries[0].event_id}`);
  await recorder.call('POST', `/v1/webhook_events/${deliveries[0].event_id}/redeliver`);
  await recorder.call('POST', `${path}/test`);
  await recorder.call('GET', `${path}/stats`);
  await recorder.call('POST', `${path}/recover`, { body: { since } });
  const replay = await recorder.call('POST', '/v1/operations/webhooks/replay', { body: { since, endpoint_id: id } });
  await recorder.call('GET', `/v1/operations/webhooks/replays/${replay.id}`);
  await recorder.call('GET', '/v1/operations/webhooks/replays');
  await recorder.call('POST', `/v1/operations/webhooks/replays/${replay.id}/cancel`);
  await recorder.call('GET', '/v1/operations/webhooks');
  await recorder.call('PATCH', path, { body: { events: ['task.completed'] } });
  await recorder.call('POST', `${path}/rotate_secret`, { body: { keep_old_secret_for_hours: 24 } });
  await recorder.call('DELETE', path);
}

async function keysTour(recorder: Recorder, { baseUrl, api, database }: TestService): Promise<void> {
  const body = { name: 'the shop', scopes: ['generations:write', 'tasks:read'] };
  const { id } = await recorder.call('POST', '/v1/api_keys', { body });
  await recorder.call('GET', '/v1/api_keys');
  await recorder.call('GET', `/v1/api_keys/${id}`);
  await recorder.call('PATCH', `/v1/api_keys/${id}`, { body: { name: 'the new shop' } });
  await recorder.call('POST', `/v1/api_keys/${id}/rotate`, { body: { overlap_hours: 24 } });
  await recorder.call('DELETE', `/v1/api_keys/${id}`);
  const erasure = await recorder.call('DELETE', `/v1/api_keys/${id}?erase=true`);
  // It waits a minute for calls that began before it.
  await queryOnce(database.url, `update erasures set created_at = created_at - interval '2 minutes'`);
  const ended = async () =>
    (await api.get<{ status: string }>(`/v1/erasures/${erasure.id}`)).body.status === 'completed';
  await eventually('the end of the erasure', ended);
  await recorder.call('GET', `/v1/erasures/${erasure.id}`);
  await recorder.call('GET', '/v1/erasures');
  await recorder.call('GET', '/v1/operations/audit_events?limit=2');
  const origin = { origin: baseUrl };
  const signIn = { api_key: api.key, remember: false };
  const browser = await fetch(`${baseUrl}/v1/session`, {
    method: 'POST',
    headers: { ...origin, 'content-type': 'application/json' },
    body: JSON.stringify(signIn),
  });
  const cookie = browser.headers.getSetCookie()[0]!.split(';')[0]!;
  await recorder.call('GET', '/v1/session', { headers: { ...origin, cookie } });
  await recorder.call('POST', '/v1/session', { body: signIn, headers: origin });
}

async function operationsTour(recorder: Recorder): Promise<void> {
  const operations = '/v1/operations';
  await recorder.call('GET', operations);
  await recorder.call('GET', `${operations}/keys`);
  await recorder.call('GET', `${operations}/queue_history?minutes=2`);
  await recorder.call('GET', `${operations}/log_levels`);
  await recorder.call('PUT', `${operations}/log_levels`, {
    body: { log_level: 'info', log_levels: { tasks: 'debug' } },
  });
  for (const [act, more] of [
    ['cancel', {}],
    ['release', {}],
    ['fail', { code: 'provider_unavailable' }],
  ] as const) {
    const { task_id: id } = await create(recorder, HANG);
    await eventually('the run', async () => (await task(recorder, id)).status === 'running');
    if (act === 'cancel') {
      await recorder.call('GET', `${operations}/tasks`);
      await recorder.call('GET', `${operations}/tasks/${id}`);
      await recorder.call('GET', `${operations}/tasks/${id}/timeline`);
    }
    await recorder.call('POST', `${operations}/tasks/${id}/${act}`, act === 'fail' ? { body: more } : {});
    await recorder.call('POST', `${operations}/tasks/${act}`, { body: { filter: { model: 'gpt-image-2' }, ...more } });
    if (act === 'release') await recorder.call('POST', `/v1/tasks/${id}/cancel`);
  }
  const { data: providers } = await recorder.call('GET', `${operations}/providers`);
  await recorder.call('POST', `${operations}/providers/${encodeURIComponent(providers[0].place)}/close_circuit`);
  const pause = { model: 'sora-2', reason: 'The provider is under maintenance' };
  const { id } = await recorder.call('POST', `${operations}/pauses`, { body: pause });
  await recorder.call('GET', `${operations}/pauses`);
  await recorder.call('DELETE', `${operations}/pauses/${id}`);
  const { data: processes } = await recorder.call('GET', `${operations}/processes`);
  const process = `${operations}/processes/${encodeURIComponent(processes[0].id)}`;
  await recorder.call('GET', process);
  await recorder.call('POST', `${process}/drain`);
  await recorder.call('POST', `${process}/resume`);
}

const create = (recorder: Recorder, body: object): Promise<any> =>
  recorder.call('POST', '/v1/generations', { body, isUnrecorded: true });

const task = (recorder: Recorder, id: string): Promise<any> =>
  recorder.call('GET', `/v1/tasks/${id}`, { isUnrecorded: true });

const untilFinal = (recorder: Recorder, id: string) =>
  eventually('the end of the task', async () => ['succeeded', 'failed'].includes((await task(recorder, id)).status));
