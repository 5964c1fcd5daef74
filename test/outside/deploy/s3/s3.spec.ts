import { jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { StoredFileMissing } from '../../../../src/platform/storage/storage.ts';
import { connectBucket } from '../../../../src/platform/storage/s3-bucket.ts';
import { S3Deletes } from '../../../../src/platform/storage/s3.storage.ts';
import { writeLifecycle } from '../../../../src/platform/storage/s3-lifecycle.ts';
import { S3Storage } from '../../../../src/platform/storage/s3.storage.ts';
import { startOwnService } from '../../../support/service.ts';
import { aCat } from '../../../support/clients/api.ts';
import { aPicture, FilesClient, sha256 } from '../../../support/clients/files.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith } from '../tools.ts';
import { CREDENTIALS, startVersityGateway } from './versitygw.ts';

describeWith({ versitygw: 'go install github.com/versity/versitygw/cmd/versitygw@v1.8.0' }, 'a real S3 server', () => {
  let server: Awaited<ReturnType<typeof startVersityGateway>>;
  let storage: S3Storage;
  const before = { ...process.env };

  beforeAll(async () => {
    Object.assign(process.env, CREDENTIALS);
    server = await startVersityGateway();
    storage = await S3Storage.connect(`s3://results?endpoint=${server.endpoint}&prefix=dark/room`);
  });
  afterAll(async () => {
    await server?.stop();
    process.env = before;
  });
  const read = async (key: string, range?: { start: number; end: number }) =>
    Buffer.concat(await (await storage.open(key, range)).toArray());

  it('keeps bytes from memory and from a file, and gives ranges of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'darkroom-s3-'));
    const film = randomBytes(40_000_000);
    writeFileSync(join(folder, 'film'), film);
    await storage.put('task_a/1-0.png', Buffer.from('0123456789'), 'image/png');
    await storage.put('task_a/1-1.mp4', { path: join(folder, 'film') }, 'video/mp4');
    rmSync(folder, { recursive: true });
    expect(await storage.size('task_a/1-1.mp4')).toBe(film.length);
    expect(sha256(await read('task_a/1-1.mp4'))).toBe(sha256(film));
    expect((await read('task_a/1-0.png', { start: 2, end: 4 })).toString()).toBe('234');
    const range = { start: 39_000_000, end: 39_999_999 };
    expect(sha256(await read('task_a/1-1.mp4', range))).toBe(sha256(film.subarray(39_000_000)));
  });

  it('keeps a file of more than 64 MiB, sent in parts, and leaves no parts behind when that fails', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'darkroom-s3-'));
    const path = join(folder, 'film');
    const film = randomBytes(70_000_000);
    writeFileSync(path, film);
    const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true });
    const unfinished = async () =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: 'results' }))).Uploads?.length ?? 0;
    try {
      await storage.put('task_m/1-0.mp4', { path }, 'video/mp4');
      expect(await storage.size('task_m/1-0.mp4')).toBe(film.length);
      expect(sha256(await read('task_m/1-0.mp4'))).toBe(sha256(film));
      const joint = { start: 16 * 1_048_576 - 10, end: 16 * 1_048_576 + 9 };
      expect((await read('task_m/1-0.mp4', joint)).equals(film.subarray(joint.start, joint.end + 1))).toBe(true);

      const sizes = { singleMax: 1_000_000, part: 20_000_000 };
      const strict = await S3Storage.connect(`s3://results?endpoint=${server.endpoint}`, { sizes, silenceMs: 500 });
      const put = strict.put('task_m/1-1.mp4', { path }, 'video/mp4');
      await eventually('the upload to begin', async () => (await unfinished()) === 1);
      truncateSync(path, 30_000_000); // now two parts are shorter than announced
      await expect(put).rejects.toThrow();
      expect(await unfinished()).toBe(0);
      await expect(strict.size('task_m/1-1.mp4')).rejects.toThrow(StoredFileMissing);
    } finally {
      client.destroy();
      rmSync(folder, { recursive: true });
    }
  });

  it('deletes one file, a missing one, and a folder of more than a page', async () => {
    const keys = Array.from({ length: 1_005 }, (_, nth) => `task_b/${nth}.txt`);
    await storage.put('task_bc/1-0.png', Buffer.from('x'), 'image/png');
    for (let from = 0; from < keys.length; from += 50) {
      await Promise.all(keys.slice(from, from + 50).map((key) => storage.put(key, Buffer.from('x'), 'text/plain')));
    }
    await storage.delete(keys[0]!);
    await storage.delete(keys[0]!);
    await expect(storage.size(keys[0]!)).rejects.toThrow(StoredFileMissing);
    await storage.deleteAll('task_b');
    await storage.deleteAll('task_b');
    for (const key of [keys[1]!, keys[1_004]!]) await expect(storage.open(key)).rejects.toThrow(StoredFileMissing);
    expect(await storage.size('task_bc/1-0.png')).toBe(1);
  });

  it('deletes many objects in one call', async () => {
    const keys = ['task_d/1-0.png', 'task_d/1-1.png', 'task_d/absent.png'];
    for (const key of keys.slice(0, 2)) await storage.put(key, Buffer.from('x'), 'image/png');
    const bucket = await connectBucket(`s3://results?endpoint=${server.endpoint}`, {});
    const send = jest.spyOn(bucket.client, 'send');
    await new S3Deletes(bucket).delete(keys.map((key) => `dark/room/${key}`));
    expect(send.mock.calls.map(([command]) => command.constructor.name)).toEqual(['DeleteObjectsCommand']);
    for (const key of keys) await expect(storage.size(key)).rejects.toThrow(StoredFileMissing);
  });

  it('has no lifecycle rules, and the operator is told so', async () => {
    const written = writeLifecycle(`s3://results?endpoint=${server.endpoint}`);
    await expect(written).rejects.toThrow('this S3 server has no lifecycle rules');
  });

  it('takes a signed PUT of the announced length and type, and no other', async () => {
    const body = Buffer.from('0123456789');
    const { url, headers } = await storage.signPut('uploads/a', { contentType: 'image/png', bytes: 10, lifetimeS: 60 });
    const put = async (to: string, bytes: Buffer, more: object = {}) => {
      const sent = { ...headers, 'content-length': String(bytes.length), ...more };
      return (await fetch(to, { method: 'PUT', headers: sent, body: bytes as Buffer<ArrayBuffer> })).status;
    };
    expect(await put(url, Buffer.from('0123456789a'))).toBe(403);
    expect(await put(url, body, { 'content-type': 'text/html' })).toBe(403);
    expect(await put(url.replace('uploads/a', 'uploads/b'), body)).toBe(403);
    expect(await put(url.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=3600'), body)).toBe(403);
    expect((await fetch(url)).status).toBe(403);
    await expect(storage.size('uploads/a')).rejects.toThrow(StoredFileMissing);
    expect(await put(url, body)).toBe(200);
    expect((await read('uploads/a')).toString()).toBe('0123456789');
  });

  it('is ready only with its bucket and the right credentials', async () => {
    await storage.ready();
    await expect((await S3Storage.connect(`s3://absent?endpoint=${server.endpoint}`)).ready()).rejects.toThrow();
    process.env.AWS_SECRET_ACCESS_KEY = 'wrong';
    await expect((await S3Storage.connect(`s3://results?endpoint=${server.endpoint}`)).ready()).rejects.toThrow();
    Object.assign(process.env, CREDENTIALS);
  });

  it('carries a whole service: uploads, results, ranges of them, deletion', async () => {
    const service = await startOwnService({
      ...CREDENTIALS,
      STORAGE_URL: `s3://results?endpoint=${server.endpoint}&prefix=service`,
    });
    try {
      const files = new FilesClient(service.api);
      const picture = await aPicture(64, 32);
      const pending = await files.announce(picture, { sha256: sha256(picture) });
      expect((await files.put(pending, picture)).status).toBe(200);
      expect((await files.complete(pending.id)).body).toMatchObject({ status: 'processed', width: 64 });
      const { body } = await service.api.create({ ...aCat, reference_images: [pending.id] });
      const { result, error } = await service.api.untilFinal(body.task_id);
      expect(error).toBeUndefined();
      const { url, sha256: hash, size_bytes } = result!.outputs[0]!;
      expect(sha256(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(hash);
      const part = await fetch(url, { headers: { range: 'bytes=-100' } });
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `bytes ${size_bytes - 100}-${size_bytes - 1}/${size_bytes}`,
      ]);
      expect((await service.api.call('DELETE', `/v1/tasks/${body.task_id}`)).status).toBeLessThan(300);
      expect((await service.api.get('/readyz')).status).toBe(200);
    } finally {
      await service.close();
    }
  });
});
