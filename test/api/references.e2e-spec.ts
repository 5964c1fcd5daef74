// In process: it runs the purge at chosen moments, and makes the service forget rows that the test has changed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { DataSource } from 'typeorm';
import { UploadPurgeWorker } from '../../src/files/uploads/upload-purge.worker.ts';
import { Storage } from '../../src/platform/storage/storage.ts';
import { TaskCache } from '../../src/tasks/queue/task-cache.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { eventually } from '../support/wait.ts';

let service: InProcess;
let files: FilesClient;
let stranger: FilesClient;

beforeAll(async () => {
  // Nothing may be fetched: loopback is not allowed.
  service = await startInProcess({ OUTBOUND_ALLOW_CIDRS: '', TASK_SWEEP_S: '0.2' });
  files = new FilesClient(service.api);
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'stranger' });
  stranger = new FilesClient(new Api(service.baseUrl, body.key));
});
afterAll(() => service.close());

const query = (sql: string, values?: unknown[]) => service.app.get(DataSource).query(sql, values);
const edit = (...images: string[]) => ({ model: 'gpt-image-2', prompt: 'The same in blue', reference_images: images });
const dataUrl = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;

/** Creates the task and waits for its success. */
async function succeeds(body: object, api = service.api): Promise<TaskBody> {
  const created = await api.create(body);
  expect({ status: created.status, text: created.text }).toMatchObject({ status: 201 });
  const task = await api.untilFinal(created.body.task_id);
  expect(task).toMatchObject({ status: 'succeeded' });
  return task;
}
async function fault(body: object, api = service.api): Promise<[number, string, string | null]> {
  const { status, body: answer } = await api.create<ErrorBody>(body);
  return [status, answer.error?.code, answer.error?.param];
}

describe('an image of a request', () => {
  it('is a file of the key, an output, a link of ours, or a data: URL, each read from storage', async () => {
    const upload = (await files.upload(await aPicture(30, 20))).body;
    const first = await succeeds(edit(upload.id));
    const output = first.result!.outputs[0]!;
    const inline = await aPicture(10, 10, 'webp');
    const task = await succeeds(edit(output.id, output.url, upload.url!, dataUrl(inline, 'image/whatever')));
    const [id, link, uploadLink, made] = (task.input as { reference_images: string[] }).reference_images;
    expect([id, link, uploadLink]).toEqual([output.id, output.url, upload.url]);
    expect(made).toMatch(/^file_[0-9a-z]{26}$/);
    expect((await files.read(made!)).body).toMatchObject({
      task_id: task.task_id,
      content_type: 'image/webp',
      expires_at: task.expires_at,
    });
    expect(Buffer.from(await (await files.content(made!)).arrayBuffer())).toEqual(inline);
    const { body } = await service.api.get<{ data: { id: string }[] }>('/v1/files?limit=100');
    expect(body.data.map(({ id: one }) => one)).not.toContain(made);
    const film = { model: 'seedance-2', prompt: 'x', duration: 4, first_frame_image_url: upload.id };
    const started = await service.api.create({ ...film, reference_mode: 'first_frame' });
    expect(started.status).toBe(201);
    await service.api.cancel(started.body.task_id);
  });

  it('is refused with the field as param when it is no file of the key', async () => {
    const { body: own } = await files.upload(await aPicture());
    const { body: lines } = await files.upload('{}', { purpose: 'batch' });
    const { body: gone } = await files.upload(await aPicture());
    await service.api.call('DELETE', `/v1/files/${gone.id}`);
    const { body: expired } = await files.upload(await aPicture());
    await query(`update uploads set expires_at = now() - interval '1 s' where id = $1`, [expired.id]);
    const pending = await files.announce(await aPicture());
    const film = await succeeds({ model: 'gpt-image-2', prompt: 'x' });
    const filmId = film.result!.outputs[0]!.id;
    const [{ result }] = await query(`select result from tasks where id = $1`, [film.task_id]);
    await query(`update tasks set result = $2 where id = $1`, [
      film.task_id,
      JSON.stringify([{ ...result[0], type: 'video' }]),
    ]);
    service.app.get(TaskCache).drop(film.task_id);
    const unknown = `file_${'0'.repeat(26)}`;
    for (const [id, code, status = 400] of [
      [unknown, 'file_not_found'],
      [`${unknown}_0`, 'file_not_found'],
      [gone.id, 'file_not_found'],
      [expired.id, 'file_expired'],
      [lines.id, 'invalid_image'],
      [filmId, 'invalid_image'],
      [pending.id, 'upload_incomplete', 409],
      [own.url!.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), 'invalid_url'],
      [`${service.baseUrl}/v1/files/${own.id}/content`, 'invalid_url'],
      [`${service.baseUrl}/v1/tasks`, 'url_not_allowed'],
      ['data:image/png;base64,AA*A', 'invalid_url'],
      ['data:image/png;base64,', 'invalid_url'],
      ['data:image/png,abc', 'invalid_url'],
      [dataUrl(Buffer.from('<svg/>')), 'invalid_image'],
    ] as const) {
      expect([id, ...(await fault(edit(own.id, id)))]).toEqual([id, status, code, 'reference_images[1]']);
    }
    await query(`update uploads set needed_until = null where id = $1`, [own.id]);
    expect(await fault(edit(own.id), stranger.api)).toEqual([400, 'file_not_found', 'reference_images[0]']);
    // Another key that knows the id does not prolong the file.
    const [{ needed_until }] = await query(`select needed_until from uploads where id = $1`, [own.id]);
    expect(needed_until).toBeNull();
    await succeeds(edit(own.url!), stranger.api); // a link carries its own permission
  });

  it('is completed by the creation that names it', async () => {
    const png = await aPicture();
    const pending = await files.announce(png);
    await files.put(pending, png);
    await succeeds(edit(pending.id));
    expect((await files.read(pending.id)).body.status).toBe('processed');
    const lie = Buffer.from('x'.repeat(png.length));
    const lying = await files.announce(lie);
    await files.put(lying, lie);
    expect(await fault(edit(lying.id))).toEqual([400, 'invalid_image', 'reference_images[0]']);
  });

  it('stays until the task has read it, although it is deleted or expires meanwhile', async () => {
    const worker = service.app.get(UploadPurgeWorker);
    const { body: deleted } = await files.upload(await aPicture());
    const { body: expired } = await files.upload(await aPicture());
    // No worker may claim it yet: its key may run nothing more.
    const { body: key } = await service.api.call<{ key: string; id: string }>('POST', '/v1/api_keys', { name: 'slow', limits: { max_running: 1 } }); // prettier-ignore
    const slow = new FilesClient(new Api(service.baseUrl, key.key));
    await query(`update uploads set api_key_id = $2 where id = any($1)`, [[deleted.id, expired.id], key.id]);
    const blocker = await slow.api.create({ model: 'gpt-image-2', prompt: '#hang' });
    await slow.api.until(blocker.body.task_id, 'running');
    const { body: task } = await slow.api.create(edit(deleted.id, expired.id));
    await slow.api.call('DELETE', `/v1/files/${deleted.id}`);
    await query(`update uploads set expires_at = now() - interval '1 s' where id = $1`, [expired.id]);
    await worker.purge();
    await query(
      `update upload_blobs set used_at = now() - interval '1 hour', released_at = released_at - interval '1 h'`,
    );
    await worker.purge();
    expect((await slow.content(deleted.id)).status).toBe(404);
    await slow.api.cancel(blocker.body.task_id);
    expect(await slow.api.untilFinal(task.task_id)).toMatchObject({ status: 'succeeded' });
    await query(`update uploads set needed_until = now() - interval '1 s'`);
    await worker.purge();
    const { n } = (await query(`select count(*)::int as n from uploads where id = $1`, [deleted.id]))[0];
    expect(n).toBe(0);
  });

  it('inside a request goes with its task, and with a request from which no task was made', async () => {
    const bytes = await aPicture();
    const worker = service.app.get(UploadPurgeWorker);
    const task = await succeeds(edit(dataUrl(bytes)));
    const [id] = (task.input as { reference_images: string[] }).reference_images;
    const rows = async () => (await query(`select count(*)::int as n from uploads where of_task`))[0].n as number;
    const before = await rows();
    expect(await fault(edit(dataUrl(await aPicture()), 'file_00000000000000000000000000'))).toEqual([400, 'file_not_found', 'reference_images[1]']); // prettier-ignore
    const bad = dataUrl(Buffer.from('x'));
    expect(await fault(edit(dataUrl(await aPicture()), bad))).toEqual([400, 'invalid_image', 'reference_images[1]']);
    await worker.purge();
    expect(await rows()).toBe(before);
    await query(`update tasks set files_purged = true where id = $1`, [task.task_id]);
    await query(`update uploads set needed_until = null where id = $1`, [id]);
    await worker.purge();
    expect(await rows()).toBe(before - 1);
    expect((await files.content(id!)).status).toBe(404);
  });

  it('may be gone when its creation is replayed', async () => {
    const { body: upload } = await files.upload(await aPicture());
    const body = edit(upload.id, dataUrl(await aPicture()));
    const headers = { 'idempotency-key': `replay-${Date.now()}` };
    const first = await service.api.create(body, headers);
    const again = await service.api.create(body, headers);
    await service.api.call('DELETE', `/v1/files/${upload.id}`);
    const gone = await service.api.create(body, headers);
    expect([again, gone].map(({ status, text }) => [status, text])).toEqual([[201, first.text], [201, first.text]]); // prettier-ignore
    expect(gone.headers.get('idempotent-replayed')).toBe('true');
    const { status } = await service.api.create({ ...body, prompt: 'other' }, headers);
    expect(status).toBe(400);
    const reused = { ...edit(dataUrl(await aPicture())) };
    expect(await service.api.create<ErrorBody>(reused, headers)).toMatchObject({ status: 422 });
  });

  it('larger than the body limit is 413, which points to POST /v1/files', async () => {
    const { status, body } = await service.api.create<ErrorBody>(edit(dataUrl(randomBytes(800_000))));
    expect([status, body.error.code]).toEqual([413, 'payload_too_large']);
    expect(body.error.message).toContain('POST /v1/files');
  });

  it('works in GraphQL', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key!);
    const { body: upload } = await files.upload(await aPicture());
    const mutation = 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId input } }';
    const input = { model: 'nano-banana-2', prompt: 'x', referenceImages: [upload.id, dataUrl(await aPicture())] };
    const { data } = await graphql.ask(mutation, { input });
    const { taskId } = (data as unknown as { createGeneration: { taskId: string } }).createGeneration;
    expect(await service.api.untilFinal(taskId)).toMatchObject({ status: 'succeeded' });
  });

  it('of ours past 20 MB is handed on as JPEG', async () => {
    const { task_id, result } = await succeeds({ model: 'gpt-image-2', prompt: 'Noise' });
    const output = result!.outputs[0]!;
    const noise = await sharp(randomBytes(3000 * 2800 * 3), { raw: { width: 3000, height: 2800, channels: 3 } })
      .png({ compressionLevel: 0 })
      .toBuffer();
    expect(noise.length).toBeGreaterThan(20_000_000);
    const [{ result: stored }] = await query(`select result from tasks where id = $1`, [task_id]);
    await service.app.get(Storage).put(stored[0].storage_key, noise, 'image/png');
    await query(`update tasks set result = $2 where id = $1`, [task_id, JSON.stringify([{ ...stored[0], size_bytes: noise.length }])]); // prettier-ignore
    service.app.get(TaskCache).drop(task_id);
    await succeeds(edit(output.id));
  });
});

it('generate --file uploads and uses a file', async () => {
  const folder = mkdtempSync(join(service.env.DATA_DIR!, 'cli-'));
  const path = join(folder, 'in.png');
  writeFileSync(path, await aPicture(12, 12));
  const child = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;
  const args = ['generate', 'In blue', '--model', 'gpt-image-2', '--file', path, '--out', folder, '--json'];
  const run = spawn(process.execPath, [child, ...args, '--url', service.baseUrl, '--key', service.api.key!]);
  let output = '';
  run.stdout.on('data', (text: Buffer) => (output += text.toString()));
  run.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const ended = new Promise<number | null>((resolve) => run.on('close', resolve));
  await eventually('the command to end', async () => run.exitCode !== null);
  expect([await ended, output]).toEqual([0, expect.stringMatching(/"reference_images": \[\s*"file_[0-9a-z]{26}"/)]);
});
