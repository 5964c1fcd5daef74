// In process: a small application on a storage that shows which files are open.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config, loadConfig } from '../../src/platform/config/config.ts';
import { DatabaseModule } from '../../src/platform/database/database.module.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { createHttpApp } from '../../src/platform/http/http-app.ts';
import { DiskStorage } from '../../src/platform/storage/disk.storage.ts';
import { type ByteRange, Storage } from '../../src/platform/storage/storage.ts';
import { ContentController } from '../../src/files/content/content.controller.ts';
import { GeneratedFiles } from '../../src/files/content/generated-files.ts';
import { DirectDelivery } from '../../src/files/content/direct-delivery.ts';
import { FileContents } from '../../src/files/content/file-contents.ts';
import { DirectUploads } from '../../src/files/uploads/direct-uploads.ts';
import { UploadBlob } from '../../src/files/record/upload-blob.entity.ts';
import { Upload } from '../../src/files/record/upload.entity.ts';
import { ReadTasks } from '../../src/tasks/sql/read-tasks.ts';
import { FileLinks } from '../../src/tasks/read/file-links.ts';
import { CachedTasks } from '../../src/tasks/queue/task-cache.ts';
import { TaskFiles } from '../../src/tasks/read/task-files.ts';
import { fileIdOf, newTaskId } from '../../src/tasks/record/task-id.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';

/** Records the streams that it opened, so that a test can check that they were closed. */
class WatchedStorage extends DiskStorage {
  readonly opened: Readable[] = [];

  override async open(key: string, range?: ByteRange): Promise<Readable> {
    const stream = await super.open(key, range);
    this.opened.push(stream);
    return stream;
  }
}

const TTL_S = 600;
const PICTURE = Buffer.from('not really a picture, but bytes are bytes');
const VIDEO = randomBytes(8_000_000);

let database: TestDatabase;
let folder: string;
let storage: WatchedStorage;
let app: NestFastifyApplication;
let links: FileLinks;

beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'darkroom-files-'));
  storage = new WatchedStorage(folder);

  @Module({
    imports: [DatabaseModule.connect(database.url), TypeOrmModule.forFeature([Upload, UploadBlob])],
    controllers: [ContentController],
    providers: [
      GeneratedFiles,
      Sql,
      ReadTasks,
      TaskFiles,
      FileContents,
      DirectDelivery,
      { provide: Config, useValue: loadConfig({}) },
      { provide: DirectUploads, useValue: {} },
      { provide: Storage, useValue: storage },
      { provide: FileLinks, useFactory: () => links },
      {
        provide: CachedTasks,
        inject: [ReadTasks],
        useFactory: (tasks: ReadTasks) => ({ find: (id: string) => tasks.find(id) }),
      },
    ],
  })
  class FilesApp {}

  links = new FileLinks([Buffer.alloc(32, 7)], 'http://unused', TTL_S);
  app = await createHttpApp(FilesApp, { corsOrigins: [], logLevel: 'silent' });
  await app.listen(0, '127.0.0.1');
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** A succeeded task with one file in storage. */
async function given({ bytes = PICTURE, type = 'image/png', filesExpireIn = '1 day' } = {}) {
  const taskId = newTaskId();
  const id = fileIdOf(taskId, 0);
  const storageKey = `${taskId}/1-0.bin`;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const output = {
    id,
    index: 0,
    type: 'image',
    storage_key: storageKey,
    content_type: type,
    size_bytes: bytes.length,
    sha256,
  };
  await storage.put(storageKey, bytes);
  await app.get(DataSource).query(
    `insert into tasks_done (id, api_key_id, kind, model, status, progress, input, created_at, completed_at, deadline_at, expires_at, result, files_expire_at)
     values ($1, 'key_a', 'image', 'gpt-image-2', 'succeeded', 100, '{}', now(), now(), now(), now() + interval '30 days', $2, now() + $3::interval)`,
    [taskId, JSON.stringify([output]), filesExpireIn],
  );
  return { id, taskId, storageKey, sha256, url: linkTo(id) };
}

function linkTo(id: string, signer = links, nowMs = Date.now()): string {
  const { pathname, search } = new URL(signer.sign(id, Infinity, nowMs).url);
  return `http://127.0.0.1:${(app.getHttpServer().address() as { port: number }).port}${pathname}${search}`;
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

describe('a signed link', () => {
  it('returns the bytes and their type, without an API key', async () => {
    const { url, id, sha256 } = await given();
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await bytesOf(response)).toEqual(PICTURE);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PICTURE.length),
      'accept-ranges': 'bytes',
      etag: `"${sha256}"`,
      'content-disposition': `inline; filename="${id}.png"`,
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none';(?!.*script)/),
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
    const [, maxAge] = /^private, max-age=([0-9]+)$/.exec(response.headers.get('cache-control')!)!;
    expect(Number(maxAge)).toBeGreaterThan(TTL_S - 120);
    expect(Number(maxAge)).toBeLessThanOrEqual(TTL_S * 1.25);
  });

  it('names the file for saving when the URL says download', async () => {
    const { url, id } = await given();
    const response = await fetch(`${url}&download=1`);
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${id}.png"`);
    expect(await bytesOf(response)).toEqual(PICTURE);
  });

  it('answers HEAD like GET, without reading the file', async () => {
    const { url } = await given({ bytes: VIDEO, type: 'video/mp4' });
    const opened = storage.opened.length;
    const response = await fetch(url, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(VIDEO.length));
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(storage.opened).toHaveLength(opened);
  });

  it('answers 304 while the client has the file', async () => {
    const { url, sha256 } = await given();
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(url, { method, headers: { 'if-none-match': `"other", "${sha256}"` } });
      expect(response.status).toBe(304);
      expect(response.headers.get('etag')).toBe(`"${sha256}"`);
      expect(await bytesOf(response)).toHaveLength(0);
    }
    expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('answers 403 when it is forged, expired or incomplete, whether the file exists or not', async () => {
    const { url, id } = await given();
    const stranger = new FileLinks([Buffer.alloc(32, 8)], 'http://unused', TTL_S);
    const { id: other } = await given();
    const signature = new URL(url).searchParams.get('signature')!;
    const forged = [
      linkTo(id, stranger),
      linkTo(id, links, Date.now() - TTL_S * 1250 - 1000),
      url.replace(id, other),
      url.replace(id, fileIdOf(newTaskId(), 0)),
      url.replace(id, 'file_x'),
      url.replace(/expires=[0-9]+/, 'expires=99999999999'),
      url.replace(/&signature=.*/, ''),
      url.replace(/\?.*/, ''),
      `${url}&signature=${signature}`,
    ];
    for (const link of forged) {
      const response = await fetch(link);
      expect([link, response.status, await codeOf(response)]).toEqual([link, 403, 'invalid_signature']);
    }
    // A person who opens the link reads what to do.
    const page = await fetch(forged[0]!, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('Ask the sender for a new link.');
  });

  it('leads to 410 once the file has expired, and to no file of another index or task', async () => {
    const expired = await given({ filesExpireIn: '-1 second' });
    const present = await given();
    for (const link of [expired.url, linkTo(fileIdOf(newTaskId(), 0)), linkTo(present.id.replace(/_0$/, '_1'))]) {
      const response = await fetch(link);
      expect([response.status, await codeOf(response)]).toEqual([410, 'file_expired']);
      expect(response.headers.get('content-security-policy')).toBeNull();
    }
    expect((await fetch(expired.url, { method: 'HEAD' })).status).toBe(410);
    const page = await fetch(expired.url, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([410, expect.stringContaining('This file is deleted')]);
  });
});

describe('Range', () => {
  it.each([
    ['bytes=0-9', 0, 9],
    ['bytes=30-', 30, PICTURE.length - 1],
    ['bytes=-5', PICTURE.length - 5, PICTURE.length - 1],
    ['bytes=5-99999', 5, PICTURE.length - 1],
  ])('%s returns that part', async (range, start, end) => {
    const { url } = await given();
    const response = await fetch(url, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${PICTURE.length}`);
    expect(response.headers.get('content-length')).toBe(String(end - start + 1));
    expect(await bytesOf(response)).toEqual(PICTURE.subarray(start, end + 1));
  });

  it('returns a video in parts that join exactly', async () => {
    const { url } = await given({ bytes: VIDEO, type: 'video/mp4' });
    const size = 3_000_001;
    const parts = [0, 1, 2].map(async (at) => {
      return bytesOf(await fetch(url, { headers: { range: `bytes=${at * size}-${(at + 1) * size - 1}` } }));
    });
    expect(Buffer.concat(await Promise.all(parts)).equals(VIDEO)).toBe(true);
  });

  it('outside the file is 416 and names the size', async () => {
    const { url } = await given();
    const response = await fetch(url, { headers: { range: 'bytes=1000-' } });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe(`bytes */${PICTURE.length}`);
    expect(await codeOf(response)).toBe('range_not_satisfiable');
  });

  it('returns the whole file for a malformed range, several ranges, or an If-Range of another file', async () => {
    const { url, sha256 } = await given();
    const whole: Record<string, string>[] = [
      { range: 'bytes=x' },
      { range: 'bytes=0-1,3-4' },
      { range: 'bytes=0-1', 'if-range': '"another"' },
    ];
    for (const headers of whole) {
      const response = await fetch(url, { headers });
      expect(response.status).toBe(200);
      expect(await bytesOf(response)).toEqual(PICTURE);
    }
    const same = await fetch(url, { headers: { range: 'bytes=0-1', 'if-range': `"${sha256}"` } });
    expect(same.status).toBe(206);
  });
});

it('closes the file when the client disconnects during the transfer', async () => {
  const { url } = await given({ bytes: VIDEO, type: 'video/mp4' });
  await new Promise<void>((resolve) => {
    get(url, (response) => {
      response.once('data', () => response.destroy());
      response.once('close', resolve);
    });
  });
  const stream = storage.opened.at(-1)!;
  await eventually('the file to be closed', async () => stream.closed);
});

it('ends the connection when the storage has fewer bytes than recorded, and answers 500 for too many in its first chunk', async () => {
  const fewer = await given({ bytes: VIDEO, type: 'video/mp4' });
  await storage.put(fewer.storageKey, VIDEO.subarray(10));
  await expect(fetch(fewer.url).then(bytesOf)).rejects.toThrow();
  const more = await given();
  await storage.put(more.storageKey, Buffer.concat([PICTURE, PICTURE]));
  const answer = await fetch(more.url);
  expect([answer.status, await codeOf(answer)]).toEqual([500, 'internal_error']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  for (const name of ['etag', 'accept-ranges', 'content-range', 'content-disposition'])
    expect([name, answer.headers.get(name)]).toEqual([name, null]);
});
