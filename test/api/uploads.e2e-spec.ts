// In process: it runs the purge at chosen moments, and changes rows while a judge or the storage is at work.
import { jest } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DataSource } from 'typeorm';
import { Storage } from '../../src/platform/storage/storage.ts';
import { FileJudge } from '../../src/files/uploads/file-judge.ts';
import { UploadPurgeWorker } from '../../src/files/uploads/upload-purge.worker.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { Api, type ErrorBody } from '../support/clients/api.ts';
import { aPicture, type FileBody, FilesClient, sha256 } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { eventually } from '../support/wait.ts';

let service: InProcess;
let files: FilesClient;

beforeAll(async () => {
  service = await startInProcess();
  files = new FilesClient(service.api);
});
afterAll(() => service.close());

const query = (sql: string, values?: unknown[]) => service.app.get(DataSource).query(sql, values);

const stored = (): string[] =>
  readdirSync(join(service.env.DATA_DIR!, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes('uploads'))
    .map(({ name }) => name);
const scratch = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`darkroom-upload-${process.pid}-`));
const blobs = async (): Promise<number> => (await query(`select count(*)::int as n from upload_blobs`))[0].n;

async function anotherKey(limits = {}): Promise<FilesClient> {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'x', limits });
  return new FilesClient(new Api(service.baseUrl, body.key));
}

/** As if time had passed since the last change. */
const settle = () =>
  query(
    `update upload_blobs set used_at = used_at - interval '1 hour', released_at = released_at - interval '1 hour',
     purge_after = null, doomed_at = doomed_at - interval '3 hours'`,
  );
async function purge(): Promise<void> {
  const worker = service.app.get(UploadPurgeWorker);
  await worker.purge();
  await settle();
  await worker.purge();
}

describe('an upload', () => {
  it('is judged by its bytes and shown with a link', async () => {
    const bytes = await aPicture(40, 30, 'jpeg');
    const { status, body, headers } = await files.upload(bytes, {}, { name: 'ü.png', type: 'image/png' });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/files/${body.id}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^file_[0-9a-z]{26}$/),
      object: 'file',
      bytes: bytes.length,
      created_at: expect.any(Number),
      expires_at: body.created_at + 30 * 24 * 3600,
      filename: 'ü.png',
      purpose: 'vision',
      status: 'processed',
      content_type: 'image/jpeg',
      width: 40,
      height: 30,
      sha256: sha256(bytes),
      url: expect.stringContaining(`${service.baseUrl}/v1/files/${body.id}/content?expires=`),
      url_expires_at: expect.any(Number),
    });
    expect(Buffer.from(await (await fetch(body.url!)).arrayBuffer())).toEqual(bytes);
    expect(await files.read(body.id)).toMatchObject({ status: 200, body: { id: body.id, sha256: body.sha256 } });
    expect(scratch()).toEqual([]);
  });

  it('is read with the key, in parts too, and by no other key', async () => {
    const bytes = await aPicture(64, 64);
    const { body } = await files.upload(bytes);
    const whole = await files.content(body.id);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('cache-control')).toBe('private, no-cache');
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(bytes);
    const part = await files.content(body.id, { range: 'bytes=2-5' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 2-5/${bytes.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(2, 6));
    const other = await anotherKey();
    for (const reply of [await other.content(body.id), await files.content('file_x')]) {
      expect([reply.status, ((await reply.json()) as ErrorBody).error.code]).toEqual([404, 'file_not_found']);
    }
    expect((await other.read<ErrorBody>(body.id)).body.error.code).toBe('file_not_found');
    expect((await other.api.call('DELETE', `/v1/files/${body.id}`)).status).toBe(404);
  });

  it('shares the bytes of equal ones of its key, and outlives their deletion', async () => {
    const bytes = await aPicture();
    const before = stored().length;
    const ids = await Promise.all([1, 2, 3, 4].map(async () => (await files.upload(bytes)).body.id));
    expect(new Set(ids).size).toBe(4);
    expect(stored().length).toBe(before + 1);
    await (await anotherKey()).upload(bytes);
    expect(stored().length).toBe(before + 2);
    for (const id of ids.slice(1)) {
      expect((await service.api.call('DELETE', `/v1/files/${id}`)).body).toEqual({ id, object: 'file', deleted: true });
    }
    await purge();
    expect(await (await files.content(ids[0]!)).arrayBuffer()).toHaveProperty('byteLength', bytes.length);
    await service.api.call('DELETE', `/v1/files/${ids[0]}`);
    expect((await files.content(ids[0]!)).status).toBe(404);
    await purge();
    expect(stored().length).toBe(before + 1);
  });

  it('may come while the purge frees the same bytes', async () => {
    const bytes = await aPicture();
    const worker = service.app.get(UploadPurgeWorker);
    for (let round = 0; round < 15; round++) {
      const { body } = await files.upload(bytes);
      await service.api.call('DELETE', `/v1/files/${body.id}`);
      await worker.purge();
      await settle();
      const [again] = await Promise.all([files.upload(bytes), worker.purge(), worker.purge()]);
      expect(again.status).toBe(201);
      await worker.purge();
      expect((await files.content(again.body.id)).status).toBe(200);
      await service.api.call('DELETE', `/v1/files/${again.body.id}`);
    }
  });

  it('expires: 410 for its bytes, and they are freed', async () => {
    const { body } = await files.upload(await aPicture(), {
      purpose: 'user_data',
      'expires_after[anchor]': 'created_at',
      'expires_after[seconds]': '3600',
    });
    expect([body.purpose, body.expires_at - body.created_at]).toEqual(['user_data', 3600]);
    await query(`update uploads set expires_at = now() - interval '1 s' where id = $1`, [body.id]);
    expect((await files.content(body.id)).status).toBe(410);
    expect((await fetch(body.url!)).status).toBe(410);
    expect((await files.read(body.id)).body.url).toBeNull();
    const key = (await query(`select blob_id from uploads where id = $1`, [body.id]))[0].blob_id as string;
    const isStored = () => stored().includes(key.split('/').at(-1)!);
    expect(isStored()).toBe(true);
    await purge();
    expect(isStored()).toBe(false);
    expect((await files.content(body.id)).status).toBe(410);
  });

  it('is listed in pages, newest or oldest first, and by purpose', async () => {
    const own = await anotherKey();
    const ids: string[] = [];
    for (let at = 0; at < 3; at++) ids.push((await own.upload(await aPicture())).body.id);
    const lines = await own.upload('{"a":1}\n\n{"b":2}', { purpose: 'batch' }, { name: 'x.jsonl', type: 'text/plain' });
    expect(lines.body).toMatchObject({ content_type: 'application/jsonl', purpose: 'batch' });
    expect(lines.body).not.toHaveProperty('width');
    const list = async (query: string) => {
      const { body } = await own.api.get<{ data: FileBody[]; has_more: boolean }>(`/v1/files?${query}`);
      return [body.data.map(({ id }) => id), body.has_more];
    };
    expect(await list('purpose=vision&limit=2')).toEqual([[ids[2], ids[1]], true]);
    expect(await list(`purpose=vision&after=${ids[1]}`)).toEqual([[ids[0]], false]);
    expect(await list(`order=asc&after=${ids[0]}`)).toEqual([[ids[1], ids[2], lines.body.id], false]);
    expect((await own.api.get<ErrorBody>('/v1/files?after=x')).body.error.param).toBe('after');
  });

  it('is refused past the quota of its key, of which equal bytes count once', async () => {
    const picture = await aPicture(100, 100);
    const own = await anotherKey({ max_file_bytes: picture.length + 100 });
    expect((await own.upload(picture)).status).toBe(201);
    const again = await own.upload(picture);
    expect(again.status).toBe(201);
    const before = [stored().length, await blobs()];
    const refused = await own.upload<ErrorBody>(await aPicture(100, 100));
    expect([refused.status, refused.body.error.code]).toEqual([403, 'file_quota_exceeded']);
    expect([stored().length, await blobs()]).toEqual(before);
    const pictures = await Promise.all([1, 2, 3].map(() => aPicture(2, 2)));
    const room = await anotherKey({ max_file_bytes: Math.max(...pictures.map(({ length }) => length)) * 2 });
    const statuses = (await Promise.all(pictures.map((one) => room.upload(one)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 201, 403]);
  });
});

describe('bad uploads leave nothing on disk', () => {
  let before: number[];
  const counts = async () => [stored().length, await blobs(), scratch().length];
  beforeEach(async () => (before = await counts()));
  afterEach(async () => {
    await eventually('as many files as before', async () => scratch().length === 0);
    await purge();
    expect((await counts())[0]).toBe(before[0]);
  });

  const expectFault = async (answer: Promise<{ status: number; body: ErrorBody }>, code: string) => {
    const { status, body } = await answer;
    expect([status, body.error.code]).toEqual([400, code]);
  };

  it('by type and form', async () => {
    const gif = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64');
    const png = await aPicture();
    const webp = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), png]);
    for (const bytes of [gif, Buffer.from('<svg/>'), Buffer.alloc(0), png.subarray(0, 20), webp, bomb()]) {
      await expectFault(files.upload<ErrorBody>(bytes), 'invalid_image');
    }
    await expectFault(files.upload<ErrorBody>(Buffer.alloc(20_000_001)), 'invalid_image');
    for (const lines of ['', '[1]', '{"a":1}\n{', Buffer.from([0x7b, 0xff, 0x7d])]) {
      await expectFault(files.upload<ErrorBody>(lines, { purpose: 'batch' }), 'invalid_file');
    }
    await expectFault(files.upload<ErrorBody>(png, { purpose: 'output' }), 'invalid_value');
    await expectFault(files.upload<ErrorBody>(png, { colour: 'red' }), 'unknown_parameter');
    for (const name of ['__proto__x', '__proto__', '__proto__[purpose]', 'constructor']) {
      await expectFault(files.upload<ErrorBody>(png, { [name]: 'batch' }), 'unknown_parameter');
    }
    await expectFault(files.upload<ErrorBody>(png, { 'expires_after[seconds]': '3600' }), 'missing_required_parameter');
    await expectFault(
      files.upload<ErrorBody>(png, { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '1' }),
      'value_out_of_range',
    );
    const none = new FormData();
    none.append('purpose', 'vision');
    await expectFault(files.send(none), 'missing_required_parameter');
    const two = new FormData();
    two.append('file', new Blob([png as Buffer<ArrayBuffer>]), 'a.png');
    two.append('file', new Blob([png as Buffer<ArrayBuffer>]), 'b.png');
    await expectFault(files.send(two), 'too_many_items');
    const many = new FormData();
    for (let at = 0; at < 17; at++) many.append('file', new Blob([png as Buffer<ArrayBuffer>]), 'a.png');
    await expectFault(files.send(many), 'invalid_multipart');
    const parts = new FormData();
    for (let at = 0; at < 65; at++) parts.append('purpose', 'vision');
    await expectFault(files.send(parts), 'invalid_multipart');
  });

  it('directly: lies about length, type and hash, and bytes that never came', async () => {
    const png = await aPicture();
    const late = await files.announce(png);
    expect((await files.complete<ErrorBody>(late.id)).body.error.code).toBe('upload_incomplete');
    for (const [bytes, headers] of [
      [Buffer.concat([png, png]), { 'content-length': String(png.length * 2) }],
      [png, { 'content-type': 'text/html' }],
    ] as const) {
      const reply = await files.put(late, bytes, headers);
      expect([reply.status, ((await reply.json()) as ErrorBody).error.code]).toEqual([400, 'invalid_file']);
    }
    const hash = await files.announce(png, { sha256: '0'.repeat(64) });
    expect((await files.put(hash, png)).status).toBe(200);
    await expectFault(files.complete<ErrorBody>(hash.id), 'invalid_file');
    const html = Buffer.from('<html>'.padEnd(png.length));
    const type = await files.announce(html);
    expect((await files.put(type, html)).status).toBe(200);
    await expectFault(files.complete<ErrorBody>(type.id), 'invalid_image');
    expect((await files.complete<ErrorBody>(type.id)).body.error.code).toBe('upload_incomplete');
    await query(`update uploads set expires_at = now() - interval '1 s' where status = 'pending'`);
  });

  /** 20,000 x 20,000 pixels by its header. */
  function bomb(): Buffer {
    const header = Buffer.from('0000000d49484452' + '00004e20'.repeat(2) + '0802000000', 'hex');
    const crc = Buffer.alloc(4);
    crc.writeUInt32BE(crc32(header.subarray(4)));
    return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), header, crc, Buffer.from('0000000049454e44ae426082', 'hex')]); // prettier-ignore
  }
});

describe('a direct upload', () => {
  it('is pending until its bytes have come and are judged', async () => {
    const png = await aPicture(20, 10);
    const pending = await files.announce(png, { sha256: sha256(png), purpose: 'vision' });
    expect(pending).toMatchObject({
      status: 'pending',
      bytes: png.length,
      content_type: 'image/png',
      sha256: sha256(png),
      url: null,
      upload: { method: 'PUT', headers: { 'content-type': 'image/png', 'content-length': String(png.length) } },
    });
    expect((await files.content(pending.id)).status).toBe(409);
    const put = await files.put(pending, png);
    expect([put.status, put.headers.get('x-request-id')]).toEqual([200, expect.any(String)]);
    const { status, body } = await files.complete(pending.id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: pending.id, status: 'processed', width: 20, height: 10, sha256: sha256(png) });
    expect(body.expires_at - body.created_at).toBeGreaterThan(29 * 24 * 3600);
    expect((await files.complete(pending.id)).body).toMatchObject({ id: body.id, status: 'processed' });
    expect(Buffer.from(await (await files.content(pending.id)).arrayBuffer())).toEqual(png);
    expect((await files.put(pending, png)).status).toBe(400);
    const read = new URL((await files.read(pending.id)).body.url!);
    expect((await fetch(read, { method: 'PUT', body: png as Buffer<ArrayBuffer> })).status).toBe(403);
    const write = new URL(pending.upload!.url);
    expect((await fetch(write)).status).toBe(403);
    await purge();
    expect((await files.content(pending.id)).status).toBe(200);
  });

  it('is shared with equal bytes, and completed once', async () => {
    const png = await aPicture();
    await files.upload(png);
    const before = stored().length;
    const pending = await files.announce(png);
    await files.put(pending, png);
    const all = await Promise.all([1, 2, 3].map(() => files.complete(pending.id)));
    expect(all.map(({ status, body }) => [status, body.status])).toEqual(all.map(() => [200, 'processed']));
    expect(stored().length).toBe(before);
  });

  it('is completed for both of two requests, when the first deletes what the second reads', async () => {
    const png = await aPicture();
    const pending = await files.announce(png);
    await files.put(pending, png);
    const storage = service.app.get(Storage);
    const opening = jest.spyOn(storage, 'size').mockImplementationOnce(async (key) => {
      expect((await files.complete(pending.id)).status).toBe(200);
      return storage.size(key);
    });
    const { status, body } = await files.complete(pending.id);
    opening.mockRestore();
    expect([status, body.status]).toEqual([200, 'processed']);
  });

  it('leaves no bytes behind when it is deleted or expires while it is completed', async () => {
    const judge = service.app.get(FileJudge);
    for (const [change, status] of [
      [`update uploads set deleted_at = now() where id = $1`, 404],
      [`update uploads set expires_at = now() - interval '1 s' where id = $1`, 410],
    ] as const) {
      const png = await aPicture();
      const pending = await files.announce(png);
      await files.put(pending, png);
      const judging = jest.spyOn(judge, 'judge').mockImplementationOnce(async () => {
        await query(change, [pending.id]);
        return { content_type: 'image/png', width: 1, height: 1 };
      });
      expect((await files.complete(pending.id)).status).toBe(status);
      judging.mockRestore();
      const kept = await query(`select id from upload_blobs where sha256 = $1 and doomed_at is null`, [sha256(png)]);
      expect(kept).toEqual([]);
    }
  });

  it('works in GraphQL, where bytes never travel', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key!);
    const png = await aPicture(3, 4);
    const input = { filename: 'a.png', bytes: png.length, contentType: 'image/png', expiresAfter: { anchor: 'CREATED_AT', seconds: 7200 } }; // prettier-ignore
    const create =
      'mutation ($input: CreateUploadInput!) { createUpload(input: $input) { id status upload { url headers } } }';
    const created = (await graphql.ask(create, { input })).data as unknown as { createUpload: FileBody };
    const { id } = created.createUpload;
    expect((await files.put(created.createUpload, png)).status).toBe(200);
    const complete = `mutation { completeUpload(id: "${id}") { status width expiresAt createdAt } }`;
    expect((await graphql.ask(complete)).data).toMatchObject({ completeUpload: { status: 'PROCESSED', width: 3 } });
    const query = `{ file(id: "${id}") { id purpose url taskId } files(purpose: VISION, first: 1) { edges { node { id } } } }`;
    expect((await graphql.ask(query)).data).toMatchObject({
      file: { id, purpose: 'VISION', taskId: null },
      files: { edges: [{ node: { id } }] },
    });
    expect((await graphql.ask(`mutation { deleteFile(id: "${id}") { id } }`)).data).toEqual({ deleteFile: { id } });
    expect((await graphql.ask(`{ file(id: "${id}") { id } }`)).errors?.[0]?.extensions.code).toBe('file_not_found');
  });
});

describe('an output', () => {
  it('is a file: read with the key, and deleted without its task, in every process', async () => {
    const created = await service.api.create({ model: 'gpt-image-2', prompt: 'Two boats', n: 2 });
    const task = await service.api.untilFinal(created.body.task_id);
    const [first, second] = task.result!.outputs;
    const { body } = await files.read(first!.id);
    expect(body).toMatchObject({
      purpose: 'output',
      status: 'processed',
      task_id: task.task_id,
      sha256: first!.sha256,
    });
    expect((await files.content(first!.id)).status).toBe(200);
    expect((await service.api.call('DELETE', `/v1/files/${first!.id}`)).body).toMatchObject({ deleted: true });
    expect((await service.api.call('DELETE', `/v1/files/${first!.id}`)).status).toBe(200);
    const { body: after } = await service.api.get(`/v1/tasks/${task.task_id}`);
    expect(after.status).toBe('succeeded');
    expect(after.result!.outputs.map(({ url }) => url)).toEqual([null, expect.any(String)]);
    expect(after.result!.outputs[0]).not.toHaveProperty('deleted');
    expect((await fetch(first!.url)).status).toBe(410);
    expect((await files.content(first!.id)).status).toBe(410);
    expect((await files.content(second!.id)).status).toBe(200);
    expect((await files.read(first!.id)).body.url).toBeNull();
  });
});
