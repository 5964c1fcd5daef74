// Own settings: a model of a server that fetches images by links.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { Api } from '../support/clients/api.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { PictureServer } from '../support/servers/picture-server.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { VendorStub } from '../support/stubs/vendor.stub.ts';

const declared = (baseUrl: string) => `id: from-link
kind: video
description: Films of a server that fetches the first frame.
parameters: { prompt: {}, duration: { enum: [1], default: 1 }, first_frame_image_url: {} }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings:
  - provider: http
    base_url: ${baseUrl}
    credential: VENDOR_KEY
    auth: 'X-Api-Key: {{key}}'
    submit:
      path: /films
      json: { text: '{{prompt}}', start: '{{first_frame_image_url:url}}', ref: '{{task_id}}' }
      id: $.film.id
    poll: { path: '/films/{{job_id}}', status: $.state, done: [ready] }
    outputs: $.files[*].url
`;

const vendor = new VendorStub();
const pictures = new PictureServer();
const folder = mkdtempSync(join(tmpdir(), 'darkroom-linked-'));
let service: OwnService;
beforeAll(async () => {
  await Promise.all([vendor.start(), pictures.start()]);
  writeFileSync(join(folder, 'from-link.yaml'), declared(vendor.baseUrl));
  const settings = { MODELS: folder, VENDOR_KEY: vendor.key, PROVIDER_POLL_INTERVAL_MS: '20' };
  service = await startOwnService({ ...settings, TASK_SWEEP_S: '0.3' });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([vendor.stop(), pictures.stop()]);
  rmSync(folder, { recursive: true });
});

const film = () => ({ model: 'from-link', prompt: 'A slow river', first_frame_image_url: pictures.url });
const sentLink = () => new URL(vendor.requests.findLast(({ method }) => method === 'POST')!.fields.start as string);

it('is a link of ours to the checked image, until an hour past the deadline or the end of the task', async () => {
  const { task_id: id } = (await service.api.create(film())).body;
  await service.api.untilFinal(id);
  const link = sentLink();
  expect(link.origin).toBe(service.baseUrl);

  const got = await fetch(link);
  expect([got.status, got.headers.get('content-type')]).toEqual([200, 'image/png']);
  const { width, height } = await sharp(await got.arrayBuffer()).metadata();
  expect([width, height]).toEqual([640, 360]);

  // The service reads a Date, which has no microseconds.
  const [row] = await queryOnce<{ deadline_at: Date }>(
    service.database.url,
    'select deadline_at from tasks where id = $1',
    [id],
  );
  const endS = Math.ceil(row!.deadline_at.getTime() / 1000) + 3600;
  expect(Number(link.searchParams.get('expires'))).toBe(endS);
  const later = new URL(link);
  later.searchParams.set('expires', String(endS + 1));
  expect((await fetch(later)).status).toBe(403);

  expect((await service.api.get<{ data: object[] }>('/v1/files')).body.data).toEqual([]);
  await service.api.call('DELETE', `/v1/tasks/${id}`);
  expect((await fetch(link)).ok).toBe(false);
});

it('counts for the key, which buys nothing when it has no room', async () => {
  const limits = { max_request_file_bytes: 1 };
  const made = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'small', limits });
  const api = new Api(service.baseUrl, made.body.key);
  const before = vendor.submits;
  const task = await api.untilFinal((await api.create(film())).body.task_id);
  expect(task.error).toMatchObject({
    code: 'provider_rejected',
    message: 'This API key has no room for the images of this request, which its provider fetches.',
  });
  expect(vendor.submits).toBe(before);
});
