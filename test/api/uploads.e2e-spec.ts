// In process: it runs the purge at chosen moments, changes rows while a judge or the storage is at work, and makes the service forget
// rows that the test has changed.
import { jest } from '@jest/globals';
import { readdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DataSource } from 'typeorm';
import { Storage } from '../../src/platform/storage/storage.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { EraseUploadRows } from '../../src/files/sql/erase-uploads.ts';
import { FileInspector } from '../../src/files/uploads/file-inspector.ts';
import { UploadPurgeWorker } from '../../src/files/uploads/upload-purge.worker.ts';
import { LockedRows } from '../support/faults/locked-rows.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { aPicture, type FileBody, FilesClient, sha256 } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { eventually } from '../support/wait.ts';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { TaskCache } from '../../src/tasks/queue/task-cache.ts';

let service: InProcess;
let files: FilesClient;

beforeAll(async () => {
  // Nothing may be fetched: loopback is not allowed.
  service = await startInProcess({ OUTBOUND_ALLOW_CIDRS: '', TASK_SWEEP_S: '0.2' });
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
  it('is inspected by its bytes and shown with a link', async () => {
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
      kept: false,
      collection: null,
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

  it('is kept up to the end of its picture, whatever follows', async () => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const picture = await aPicture(20, 10, format);
      const more = Buffer.concat([picture, Buffer.alloc(100_000), picture]);
      const { body: sent } = await files.upload(more);
      const pending = await files.announce(more, { sha256: sha256(more) });
      expect((await files.put(pending, more)).status).toBe(200);
      const { body: put } = await files.complete(pending.id);
      const task = await succeeds(edit(dataUrl(more)));
      const [inside] = (task.input as { reference_images: string[] }).reference_images;
      for (const id of [sent.id, put.id, inside!]) {
        const { body } = await files.read(id);
        expect([body.bytes, body.sha256]).toEqual([picture.length, sha256(picture)]);
        expect(Buffer.from(await (await files.content(id)).arrayBuffer())).toEqual(picture);
      }
    }
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
    await expectFault(files.send(many), 'too_many_items');
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

it('an upload whose key is erased while its bytes are stored leaves none of them', async () => {
  const own = await anotherKey();
  const storage = service.app.get(Storage);
  const before = stored().length;
  const put = storage.put.bind(storage);
  const storing = jest.spyOn(storage, 'put').mockImplementationOnce(async (key, ...bytes) => {
    const apiKeyId = key.split('/')[1]!;
    await service.app.get(Sql).transaction((tx) => service.app.get(EraseUploadRows).delete(tx, apiKeyId));
    await put(key, ...bytes);
  });
  expect((await own.upload(await aPicture())).status).toBe(500);
  storing.mockRestore();
  expect(stored().length).toBe(before);
});

describe('a direct upload', () => {
  it('is pending until its bytes have come and are inspected', async () => {
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

  const announces = (own: FilesClient, bytes: number) =>
    own.api.call<FileBody & ErrorBody>('POST', '/v1/files', { filename: 'a.png', bytes, content_type: 'image/png' });
  const room = async (own: FilesClient, bytes: number) => {
    const { status, body } = await announces(own, bytes);
    return status === 201 ? body : [status, body.error.code];
  };
  const FULL = [403, 'file_quota_exceeded'];

  it('counts for the quota of its key from its announcement until it is deleted', async () => {
    const own = await anotherKey({ max_file_bytes: 1_010 });
    const before = await blobs();
    const together = await Promise.all([1, 2, 3].map(() => announces(own, 1_000)));
    expect(together.map(({ status }) => status).toSorted()).toEqual([201, 403, 403]);
    expect(await blobs()).toBe(before + 1);
    const pending = together.find(({ status }) => status === 201)!.body;
    expect((await own.upload<ErrorBody>(await aPicture())).status).toBe(403);
    expect((await files.put(pending, Buffer.alloc(1_000))).status).toBe(200);
    const bytes = stored().length;
    await own.api.call('DELETE', `/v1/files/${pending.id}`);
    expect(stored().length).toBe(bytes - 1);
    expect((await files.put(pending, Buffer.alloc(1_000))).status).toBe(410);
    expect(stored().length).toBe(bytes - 1);
    expect(await room(own, 1_000)).toMatchObject({ status: 'pending' });
  });

  it('is refused for now, as a file inside a request is, while its key is counted for too long', async () => {
    const { body: key } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name: 'x' });
    const own = new FilesClient(new Api(service.baseUrl, key.key));
    const lock = (what: string) => `pg_advisory_xact_lock(hashtextextended('${what} ${key.id}', 0))`;
    const url = service.env.DATABASE_URL!;
    const counting = await LockedRows.by(url, `select ${lock('uploads')}, ${lock('request files')}`);
    const picture = `data:image/png;base64,${(await aPicture()).toString('base64')}`;
    const edit = { model: 'gpt-image-2', prompt: 'A cat', reference_images: [picture] };
    const answers = await Promise.all([announces(own, 1_000), own.api.create<ErrorBody>(edit)]);
    await counting.release();
    expect(answers.map(({ status, body }) => [status, (body as ErrorBody).error.code])).toEqual(
      answers.map(() => [503, 'service_unavailable']),
    );
    expect((await announces(own, 1_000)).status).toBe(201);
  });

  it('is one file for a picture that a request has in several fields', async () => {
    const picture = `data:image/png;base64,${(await aPicture(40, 30)).toString('base64')}`;
    const { body } = await service.api.create({
      model: 'gpt-image-2',
      prompt: 'A cat',
      reference_images: [picture, picture, picture],
    });
    const task = await service.api.untilFinal(body.task_id);
    expect(task.status).toBe('succeeded');
    const [{ count }] = await query(`select count(*)::int from uploads where task_id = '${body.task_id}'`);
    expect(count).toBe(1);
  });

  it('counts in a bucket, which takes the bytes of a deleted or completed file, until its link is over', async () => {
    const signing = jest
      .spyOn(service.app.get(Storage), 'signPut')
      .mockImplementation(async () => ({ url: 'https://bucket.example', headers: {} }));
    const own = await anotherKey({ max_file_bytes: 1_500 });
    const pending = (await room(own, 1_000)) as FileBody;
    expect(await room(own, 1_000)).toEqual(FULL);
    await own.api.call('DELETE', `/v1/files/${pending.id}`);
    expect(await room(own, 1_000)).toEqual(FULL);
    await service.app.get(UploadPurgeWorker).purge();
    expect(await room(own, 1_000)).toEqual(FULL);
    await query(`update upload_blobs set doomed_at = now() - interval '1 s' where announced_bytes = 1000`);
    expect(await room(own, 1_000)).toMatchObject({ status: 'pending' });
    signing.mockRestore();
  });

  it('loses its bytes when its key has no room for it any more', async () => {
    const { body: key } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name: 'x' });
    const own = new FilesClient(new Api(service.baseUrl, key.key));
    const png = await aPicture();
    const pending = await own.announce(png);
    expect((await own.put(pending, png)).status).toBe(200);
    const before = stored().length;
    await service.api.call('PATCH', `/v1/api_keys/${key.id}`, { limits: { max_file_bytes: 1 } });
    const refused = await own.complete<ErrorBody>(pending.id);
    expect([refused.status, refused.body.error.code]).toEqual(FULL);
    expect(stored().length).toBe(before - 1);
    expect((await own.complete<ErrorBody>(pending.id)).body.error.code).toBe('upload_incomplete');
  });

  it('leaves no bytes behind when it is deleted while they arrive', async () => {
    const storage = service.app.get(Storage);
    const png = await aPicture();
    const pending = await files.announce(png);
    const before = stored().length;
    const put = storage.putAtomically.bind(storage);
    const storing = jest.spyOn(storage, 'putAtomically').mockImplementationOnce(async (...bytes) => {
      await service.api.call('DELETE', `/v1/files/${pending.id}`);
      await put(...bytes);
    });
    expect((await files.put(pending, png)).status).toBe(410);
    storing.mockRestore();
    expect(stored().length).toBe(before);
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
    const judge = service.app.get(FileInspector);
    for (const [change, status] of [
      [`update uploads set deleted_at = now() where id = $1`, 404],
      [`update uploads set expires_at = now() - interval '1 s' where id = $1`, 410],
    ] as const) {
      const png = await aPicture();
      const pending = await files.announce(png);
      await files.put(pending, png);
      const judging = jest.spyOn(judge, 'inspect').mockImplementationOnce(async () => {
        await query(change, [pending.id]);
        return { content_type: 'image/png', width: 1, height: 1, bytes: png.length };
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

let stranger: FilesClient;
beforeAll(async () => (stranger = await anotherKey()));

const edit = (...images: string[]) => ({ model: 'gpt-image-2', prompt: 'The same in blue', reference_images: images });
const dataUrl = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;
/** As some programs write it, and every browser reads it. */
const odd = (url: string) =>
  `${url
    .replace('data:', 'DATA:')
    .replace(',', ', ')
    .replace(/(.{76})/g, '$1\r\n')}%0A`;

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
    const task = await succeeds(edit(output.id, output.url, upload.url!, odd(dataUrl(inline, 'image/whatever'))));
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
    await query(`update tasks_done set result = $2 where id = $1`, [
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
    await query(`update tasks_done set files_purged = true where id = $1`, [task.task_id]);
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

  it('counts for a quota of its key until its bytes are freed, equal bytes once', async () => {
    const picture = await aPicture();
    const own = await anotherKey({ max_request_file_bytes: picture.length + 10, max_file_bytes: 10_000 });
    const sumOf = async (id: string) =>
      (
        await query(`select s.bytes from request_file_sums s join uploads u using (api_key_id) where u.id = $1`, [id])
      )[0];
    const { task_id, input } = await succeeds(edit(dataUrl(picture)), own.api);
    await succeeds(edit(dataUrl(picture)), own.api);
    const [id] = (input as { reference_images: string[] }).reference_images;
    expect(await sumOf(id!)).toEqual({ bytes: String(picture.length) });
    const other = await aPicture();
    const before = stored().length;
    expect(await fault(edit(dataUrl(picture), dataUrl(other)), own.api)).toEqual([403, 'file_quota_exceeded', 'reference_images[1]']); // prettier-ignore
    const form = new FormData();
    form.append('prompt', 'In blue');
    form.append('image', new Blob([other as Buffer<ArrayBuffer>]), 'a.png');
    const authorization = `Bearer ${own.api.key}`;
    const answer = await fetch(`${service.baseUrl}/v1/images/edits`, { method: 'POST', headers: { authorization }, body: form }); // prettier-ignore
    expect([answer.status, ((await answer.json()) as ErrorBody).error]).toMatchObject([403, { code: 'file_quota_exceeded', param: 'image' }]); // prettier-ignore
    expect(stored().length).toBe(before);
    expect((await own.upload(other)).status).toBe(201); // uploads have their own

    const { body: kept } = await own.upload(picture);
    await query(`update tasks_done set files_purged = true where api_key_id = (select api_key_id from uploads where id = $1)`, [kept.id]); // prettier-ignore
    service.app.get(TaskCache).drop(task_id);
    await query(`update uploads set needed_until = null where of_task`);
    await purge();
    expect(await sumOf(kept.id)).toEqual({ bytes: String(picture.length) });
    await own.api.call('DELETE', `/v1/files/${kept.id}`);
    const { body: last } = await own.upload('{}', { purpose: 'batch' });
    await purge();
    expect(await sumOf(last.id)).toEqual({ bytes: '0' });
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
    await query(`update tasks_done set result = $2 where id = $1`, [task_id, JSON.stringify([{ ...stored[0], size_bytes: noise.length }])]); // prettier-ignore
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
