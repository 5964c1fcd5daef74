import { Logger } from '@nestjs/common';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { S3Storage } from './s3.storage.ts';
import { StoredFileMissing } from './storage.ts';

let folder: string;
let server: S3rver;
let endpoint: string;
let storage: S3Storage;

beforeAll(() => Logger.overrideLogger(false)); // warnings of the SDK are logged
beforeAll(async () => {
  // The only credentials that the test server accepts.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' });
  folder = await mkdtemp(join(tmpdir(), 'darkroom-s3-'));
  server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(folder, 'buckets'),
    configureBuckets: [{ name: 'results', configs: [] }],
  });
  endpoint = `http://127.0.0.1:${(await server.run()).port}`;
  storage = await S3Storage.connect(`s3://results?endpoint=${endpoint}&region=eu-central-1&prefix=dark/room`);
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

async function textOf(key: string, range?: { start: number; end: number }): Promise<string> {
  return Buffer.concat(await (await storage.open(key, range)).toArray()).toString();
}

/** The signature of a presigned PUT (AWS Signature Version 4), from what the client sends. */
function signatureFor(url: string, sent: { bytes: number; type: string }): string {
  const { host, pathname, searchParams } = new URL(url);
  const given = Object.fromEntries(searchParams);
  const query = [...searchParams].filter(([name]) => name !== 'X-Amz-Signature').sort(([a], [b]) => (a < b ? -1 : 1));
  const escape = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const canonical = [
    'PUT',
    pathname,
    query.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&'),
    `content-length:${sent.bytes}\ncontent-type:${sent.type}\nhost:${host}\n`,
    given['X-Amz-SignedHeaders'],
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const [, ...scope] = given['X-Amz-Credential']!.split('/');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', given['X-Amz-Date'], scope.join('/'), hash].join('\n');
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
  const key = scope.reduce<string | Buffer>((from, part) => hmac(from, part), 'AWS4S3RVER');
  return hmac(key, text).toString('hex');
}

describe('storage in S3', () => {
  it('returns the stored bytes, whole or as a range', async () => {
    await storage.put('task_a/1-0.png', Buffer.from('0123456789'), 'image/png');
    expect(await storage.size('task_a/1-0.png')).toBe(10);
    expect(await textOf('task_a/1-0.png')).toBe('0123456789');
    expect(await textOf('task_a/1-0.png', { start: 2, end: 4 })).toBe('234');
  });

  it('stores a file', async () => {
    const path = join(folder, 'video');
    await writeFile(path, Buffer.alloc(9_000_000, 'v'));
    await storage.put('task_v/1-0.mp4', { path }, 'video/mp4');
    expect(await storage.size('task_v/1-0.mp4')).toBe(9_000_000);
    expect(await textOf('task_v/1-0.mp4')).toBe('v'.repeat(9_000_000));
  });

  it('deletes one file, and a missing one without an error', async () => {
    await storage.put('uploads/a', Buffer.from('a'), 'text/plain');
    await storage.put('uploads/ab', Buffer.from('ab'), 'text/plain');
    await storage.delete('uploads/a');
    await storage.delete('uploads/a');
    await expect(storage.size('uploads/a')).rejects.toThrow(StoredFileMissing);
    expect(await textOf('uploads/ab')).toBe('ab');
  });

  it('signs a PUT that binds length and type, and no other', async () => {
    const bytes = Buffer.from('0123456789');
    const { url, headers } = await storage.signPut('uploads/c', { contentType: 'image/png', bytes: 10, lifetimeS: 60 });
    expect(headers).toEqual({ 'content-type': 'image/png', 'content-length': '10' });
    expect(new URL(url).searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;content-type;host');
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('60');
    // The test server checks no signature of version 4, so this computes what a real one computes from a request.
    const signature = new URL(url).searchParams.get('X-Amz-Signature');
    expect(signatureFor(url, { bytes: 10, type: 'image/png' })).toBe(signature);
    expect(signatureFor(url, { bytes: 11, type: 'image/png' })).not.toBe(signature);
    expect(signatureFor(url, { bytes: 10, type: 'text/html' })).not.toBe(signature);
    const put = () => fetch(url, { method: 'PUT', body: bytes as Buffer<ArrayBuffer>, headers });
    expect((await put()).status).toBe(200);
    expect(await textOf('uploads/c')).toBe('0123456789');
  });

  it('reads more files at once than the SDK has connections by default', async () => {
    await storage.put('task_m/1-0.mp4', Buffer.alloc(4_000_000), 'video/mp4');
    const streams = await Promise.all(Array.from({ length: 50 }, () => storage.open('task_m/1-0.mp4')));
    try {
      expect(await storage.size('task_m/1-0.mp4')).toBe(4_000_000);
    } finally {
      for (const stream of streams) stream.destroy();
    }
  });

  it('reports a missing file before it returns a stream', async () => {
    await expect(storage.open('task_x/1-0.png')).rejects.toThrow(StoredFileMissing);
    await expect(storage.size('task_x/1-0.png')).rejects.toThrow(StoredFileMissing);
  });

  it('deletes a folder and nothing else', async () => {
    for (const key of ['task_b/1-0.png', 'task_b/1-1.png', 'task_bc/1-0.png']) {
      await storage.put(key, Buffer.from('x'), 'image/png');
    }
    await storage.deleteAll('task_b');
    await storage.deleteAll('task_b/');
    await expect(storage.size('task_b/1-1.png')).rejects.toThrow(StoredFileMissing);
    expect(await storage.size('task_bc/1-0.png')).toBe(1);
    await expect(storage.deleteAll('')).rejects.toThrow('Not a storage key');
  });

  it('probes readiness without writing', async () => {
    const methods: string[] = [];
    const recorder = createServer((request, response) => (methods.push(request.method!), response.end()));
    await once(recorder.listen(0, '127.0.0.1'), 'listening');
    const { port } = recorder.address() as AddressInfo;
    await (await S3Storage.connect(`s3://bucket?endpoint=http://127.0.0.1:${port}`)).ready();
    expect(methods).toEqual(['HEAD']);
    recorder.closeAllConnections();
    recorder.close();
  });

  it('is ready only when the bucket exists', async () => {
    await storage.ready();
    const elsewhere = await S3Storage.connect(`s3://absent?endpoint=${endpoint}`);
    await expect(elsewhere.ready()).rejects.toThrow();
    await expect(elsewhere.open('task_a/1-0.png')).rejects.not.toThrow(StoredFileMissing);
  });
});

/** Milliseconds, of three tries. */
const SILENCE = { silenceMs: 60 };

describe('storage in an S3 that does not respond', () => {
  it.each<[string, (silent: S3Storage, path: string) => Promise<unknown>]>([
    ['a put of bytes', (silent) => silent.put('task_s/1-0.png', Buffer.from('x'), 'image/png')],
    ['a put of a file', (silent, path) => silent.put('task_s/1-0.mp4', { path }, 'video/mp4')],
    ['a read', (silent) => silent.open('task_s/1-0.png')],
    ['a look-up', (silent) => silent.size('task_s/1-0.png')],
    ['a deletion', (silent) => silent.deleteAll('task_s')],
  ])('ends %s with an error', async (_, call) => {
    await withServer('', async (silent) => {
      const path = join(folder, 'upload');
      await writeFile(path, Buffer.alloc(9_000_000, 'v'));
      await expect(call(silent, path)).rejects.toThrow(/timed out|TimeoutError|socket hang up|aborted/);
    });
  });

  it('ends a download that stalls, with an error', async () => {
    await withServer(
      'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nthe start',
      async (silent) => {
        const download = async () => (await silent.open('task_s/1-0.png')).toArray();
        await expect(download()).rejects.toThrow(/timed out|aborted/);
      },
      { silenceMs: 500 },
    );
  });
});

/** Runs `work` with a server that reads what arrives, and sends at most this. */
async function withServer(reply: string, work: (silent: S3Storage) => Promise<void>, limits = SILENCE): Promise<void> {
  const sockets = new Set<import('node:net').Socket>();
  const silent = createTcpServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .once('data', () => socket.write(reply))
      .resume();
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    const { port } = silent.address() as AddressInfo;
    await work(await S3Storage.connect(`s3://results?endpoint=http://127.0.0.1:${port}`, limits));
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
}
