import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { eventually } from '../../../test/support/wait.ts';
import type { ImageUrl } from '../../models/definition/parameters.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { NameResolver } from '../../platform/outbound/name-resolver.ts';
import { Outbound } from '../../platform/outbound/outbound.ts';
import type { StoredImages } from '../../files/images/stored-images.ts';
import { ReferenceImages, StorageAway } from './reference-images.ts';

const never = new AbortController().signal;
const images = new ReferenceImages(
  new Outbound(loadConfig({ OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32' }), new NameResolver()),
  { fileIdIn: () => null } as unknown as StoredImages,
);

const folders = mkdtempSync(join(tmpdir(), 'darkroom-spec-'));
afterAll(() => rmSync(folders, { recursive: true }));
const fetchAll = (fields: ImageUrl[], signal: AbortSignal, apiKeyId = 'key_a') =>
  images.fetchAll(fields, { apiKeyId, signal, folder: mkdtempSync(join(folders, 'task-')) });

/** Requested paths, in order. */
let requested: string[] = [];
let answers: Record<string, (response: ServerResponse) => unknown>;
let base: string;
let png: Buffer;

const server = createServer(({ url }, response) => {
  requested.push(url!);
  (answers[url!] ?? (() => response.writeHead(404).end('no such thing')))(response);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  png = await sharp({ create: { width: 16, height: 9, channels: 3, background: '#123456' } })
    .png()
    .toBuffer();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requested = [];
  answers = { '/a.png': (response) => response.end(png) };
});

const field = (path: string, i = 0) => ({ param: `reference_images[${i}]`, url: base + path });

/** @returns code, param and message as a client would see them */
async function failure(path: string, signal = never): Promise<string[]> {
  const error = await fetchAll([field('/a.png'), field(path, 1)], signal).then(
    () => ({ code: 'none', param: '', message: '' }),
    (error: { code: string; param: string; message: string }) => error,
  );
  return [error.code, error.param, error.message];
}

const NOT_FETCHED = ['reference_image_fetch_failed', 'reference_images[1]', 'A reference image could not be fetched.'];

it('returns the images in the order of the fields, not of their arrival', async () => {
  const webp = await sharp(png).resize(8, 8).webp().toBuffer();
  const arrived = Promise.withResolvers<void>();
  answers['/slow.webp'] = (response) => void arrived.promise.then(() => response.end(webp));
  const { '/a.png': fast } = answers;
  answers['/a.png'] = (response) => {
    response.on('finish', arrived.resolve);
    fast!(response);
  };
  const got = await fetchAll([field('/slow.webp'), field('/a.png')], never);
  expect(got).toMatchObject([
    { size: webp.length, contentType: 'image/webp', width: 8, height: 8 },
    { size: png.length, contentType: 'image/png', width: 16, height: 9 },
  ]);
  expect(got.map(({ path }) => readFileSync(path))).toEqual([webp, png]);
  expect(await fetchAll([], never)).toEqual([]);
});

it('fetches a repeated URL once', async () => {
  const fields = [field('/a.png'), field('/a.png', 1), { param: 'first_frame_image_url', url: `${base}/a.png` }];
  const got = await fetchAll(fields, never);
  expect(got.map(({ path }) => readFileSync(path).equals(png))).toEqual([true, true, true]);
  expect(requested).toEqual(['/a.png']);
});

it('fetches at most four at once', async () => {
  const open: ServerResponse[] = [];
  let most = 0;
  for (let i = 0; i < 16; i++) answers[`/${i}`] = (response) => (most = Math.max(most, open.push(response)));
  const fetched = fetchAll(
    Array.from({ length: 16 }, (_, i) => field(`/${i}`, i)),
    never,
  );
  for (let answered = 0; answered < 16; answered += 4) {
    await eventually('the next four', async () => requested.length >= answered + 4);
    for (const response of open.splice(0)) response.end(png);
  }
  expect(await fetched).toHaveLength(16);
  expect(most).toBe(4);
});

it.each<[string, (response: ServerResponse) => unknown]>([
  ['404', (response) => response.writeHead(404).end(png)],
  ['500', (response) => response.writeHead(500).end(png)],
  ['304', (response) => response.writeHead(304).end()],
  ['a redirect to itself', (response) => response.writeHead(302, { location: '/x' }).end()],
  ['a redirect to nowhere', (response) => response.writeHead(302).end(png)],
  ['a redirect to a private address', (response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end()],
  ['a redirect to a file', (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()],
  ['fewer bytes than announced', (response) => response.socket!.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx')],
  ['a broken connection', (response) => response.socket!.destroy()],
  ['no HTTP', (response) => response.socket!.end('220 mail ready\r\n')],
])('fails with fetch_failed for %s, with one message for every cause', async (_name, answer) => {
  answers['/x'] = answer;
  expect(await failure('/x')).toEqual(NOT_FETCHED);
});

it('fails with fetch_failed for a name without address and a closed port', async () => {
  const urls = ['http://name.invalid/', 'http://127.0.0.1:1/', 'http://169.254.169.254/', 'https://localhost:22/'];
  for (const url of urls) {
    const fetched = fetchAll([{ param: 'reference_images[1]', url }], never);
    await expect(fetched).rejects.toMatchObject({
      code: NOT_FETCHED[0],
      param: NOT_FETCHED[1],
      message: NOT_FETCHED[2],
    });
  }
});

it('fails with fetch_failed for very many tiny chunks, and takes small ones', async () => {
  const inChunksOf = (bytes: number, body: Buffer) => (response: ServerResponse) => {
    for (let at = 0; at < body.length; at += bytes) response.write(body.subarray(at, at + bytes));
    response.end();
  };
  answers['/tiny.png'] = inChunksOf(1, Buffer.concat([png, Buffer.alloc(10_000)]));
  expect(await failure('/tiny.png')).toEqual(NOT_FETCHED);
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const large = await sharp({ create: { width: 500, height: 500, channels: 3, background: '#123456', noise } })
    .png()
    .toBuffer();
  expect(large.length).toBeGreaterThan(4_096 * 64);
  answers['/small.png'] = inChunksOf(100, large);
  const [small] = await fetchAll([field('/small.png')], never);
  expect(small).toMatchObject({ size: large.length, width: 500 });
});

it('keeps the cause for the log', async () => {
  const fetched = fetchAll([field('/missing')], never);
  await expect(fetched).rejects.toMatchObject({ cause: { kind: 'http_status', message: 'status 404' } });
});

it.each<[string, () => Buffer]>([
  ['an empty body', () => Buffer.alloc(0)],
  ['a page', () => Buffer.from('<!doctype html>')],
  ['half an image', () => png.subarray(0, 60)],
  ['more than 20 MB', () => Buffer.concat([png, Buffer.alloc(20_000_001 - png.length)])],
])('fails with invalid for %s, whatever its content type', async (_name, body) => {
  answers['/x'] = (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(body());
  expect((await failure('/x')).slice(0, 2)).toEqual(['reference_image_invalid', 'reference_images[1]']);
  answers['/x'] = (response) => {
    response.write(''); // chunked: no length announced
    response.end(body());
  };
  expect((await failure('/x')).slice(0, 2)).toEqual(['reference_image_invalid', 'reference_images[1]']);
});

describe('a file of ours', () => {
  const storing = (stored: Partial<StoredImages>) =>
    new ReferenceImages({} as Outbound, { fileIdIn: (id: string) => id, ...stored } as StoredImages);
  const fields = [
    { param: 'reference_images[0]', url: 'file_large' },
    { param: 'reference_images[1]', url: 'file_small' },
    { param: 'reference_images[2]', url: 'file_large' },
  ];

  it('needs room for itself and its smaller copy if it exceeds 20 MB', async () => {
    const find = async (id: string) => ({ key: id, bytes: id === 'file_large' ? 90_000_000 : 5_000 });
    expect(await storing({ find }).mostBytesOf(fields)).toBe(130_000_000);
  });

  it('is waited for while its record cannot be read', async () => {
    const folder = mkdtempSync(join(folders, 'task-'));
    const fetching = storing({ find: () => Promise.reject(new Error('The database is away.')) });
    const fetched = fetching.fetchAll(fields, { apiKeyId: 'a', folder, signal: never });
    await expect(fetched).rejects.toBeInstanceOf(StorageAway);
  });
});

it('accepts 20 MB', async () => {
  answers['/x'] = (response) => response.end(Buffer.concat([png, Buffer.alloc(20_000_000 - png.length)]));
  expect(await fetchAll([field('/x')], never)).toHaveLength(1);
});

it('aborts the other downloads at the first failure', async () => {
  const closed = Promise.withResolvers<void>();
  answers['/hangs'] = (response) => response.socket!.once('close', closed.resolve);
  const fields = ['/hangs', '/missing', ...Array.from({ length: 9 }, (_, i) => `/${i}`)].map(field);
  await expect(fetchAll(fields, never)).rejects.toMatchObject({ param: 'reference_images[1]' });
  await closed.promise;
  expect(requested.length).toBeLessThan(6);
});

it('ends at once when the task is aborted, with its reason', async () => {
  const task = new AbortController();
  const reason = new Error('cancelled');
  answers['/hangs'] = () => task.abort(reason);
  await expect(fetchAll([field('/hangs')], task.signal)).rejects.toBe(reason);
  await expect(fetchAll([field('/a.png')], task.signal)).rejects.toBe(reason);
});

it('limits all the images of a task to 60 s together', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setInterval'] });
  try {
    const arrived = Promise.withResolvers<void>();
    answers['/hangs'] = () => arrived.resolve();
    let ended: unknown = null;
    const fetched = fetchAll([field('/hangs', 1)], never).catch((error) => (ended = error));
    await arrived.promise;
    await jest.advanceTimersByTimeAsync(59_900);
    expect(ended).toBeNull();
    await jest.advanceTimersByTimeAsync(101);
    expect(await fetched).toMatchObject({ code: NOT_FETCHED[0], param: NOT_FETCHED[1], message: NOT_FETCHED[2] });
  } finally {
    jest.useRealTimers();
  }
});

describe('a picture with EXIF', () => {
  const canvas = () => sharp({ create: { width: 64, height: 32, channels: 3, background: '#2060a0' } });
  const seen = async (bytes: Buffer) => {
    answers['/x'] = (response) => response.end(bytes);
    const [image] = await fetchAll([field('/x')], never);
    return { image: image!, metadata: await sharp(readFileSync(image!.path)).metadata() };
  };

  it.each(['jpeg', 'png', 'webp'] as const)('is turned as %s, and carries nothing of its place', async (format) => {
    const place = { IFD0: { ImageDescription: 'home' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } };
    const left = await canvas()
      .composite([{ input: { create: { width: 16, height: 32, channels: 3, background: '#fff' } }, left: 0, top: 0 }])
      .withMetadata({ orientation: 6 })
      .withExifMerge(place)
      .toFormat(format)
      .toBuffer();
    expect((await sharp(left).metadata()).orientation).toBe(6);
    const { image, metadata } = await seen(left);
    expect(image).toMatchObject({ contentType: `image/${format}`, width: 32, height: 64 });
    expect(image.size).toBe(readFileSync(image.path).length);
    expect(metadata).toMatchObject({ format, width: 32, height: 64 });
    expect([metadata.orientation, metadata.exif, metadata.xmp]).toEqual([undefined, undefined, undefined]);
    const [top] = await sharp(readFileSync(image.path))
      .extract({ left: 16, top: 4, width: 1, height: 1 })
      .raw()
      .toBuffer();
    expect(top).toBeGreaterThan(240); // what was left is above
  });

  it('is not encoded again without a turn', async () => {
    const plain = await canvas().jpeg().toBuffer();
    const described = await canvas()
      .withExif({ IFD0: { ImageDescription: 'home' } })
      .jpeg()
      .toBuffer();
    expect(described.includes('home')).toBe(true);
    const { image } = await seen(described);
    const handedOn = readFileSync(image.path);
    expect(handedOn.includes('home')).toBe(false);
    expect((await sharp(handedOn).raw().toBuffer()).equals(await sharp(plain).raw().toBuffer())).toBe(true);
    expect(readFileSync((await seen(plain)).image.path).equals(plain)).toBe(true);
  });
});
