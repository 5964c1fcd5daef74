import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Canary } from '../../../test/support/hostile/canary.ts';
import { ProviderError } from '../contract/provider.ts';
import { download, type Download } from './download.ts';

let directory: string;
let server: Server;
let seen: IncomingMessage[];
let answer: RequestListener;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'darkroom-download-'));
  seen = [];
  answer = (_request, response) => response.end('bytes');
  server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  rmSync(directory, { recursive: true });
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const aDownload = (changes: Partial<Download> = {}): Download => ({
  provider: 'fal',
  url: `${origin()}/file`,
  path: join(directory, 'file'),
  maxBytes: 1000,
  baseUrl: origin(),
  retryMs: 1,
  signal: new AbortController().signal,
  ...changes,
});

async function failureOf(changes: Partial<Download>): Promise<ProviderError> {
  const error = await download(aDownload(changes)).catch((error: unknown) => error);
  if (error instanceof ProviderError) return error;
  throw new Error(`no failure but ${String(error)}`);
}

it('writes the file, and sends the given headers', async () => {
  const { path } = await download(aDownload({ headers: { authorization: 'Bearer k' } }));
  expect(readFileSync(path, 'utf8')).toBe('bytes');
  expect(seen[0]?.headers.authorization).toBe('Bearer k');
});

it.each([
  ['/v1/images/1/content', '/v1/images/1/content'],
  ['images/1/content', '/v1/images/1/content'],
])('reads the path %s at the upstream itself, with its key', async (url, path) => {
  const own = { url, baseUrl: `${origin()}/v1`, headers: { authorization: 'Bearer k' } };
  expect(readFileSync((await download(aDownload(own))).path, 'utf8')).toBe('bytes');
  expect(seen.map((request) => [request.url, request.headers.authorization])).toEqual([[path, 'Bearer k']]);
});

it('writes a large data: URL in few steps, because each waits for the main thread while the picture is in memory', async () => {
  const bytes = Buffer.alloc(16 * 1024 * 1024, 7);
  let steps = 0;
  const hook = createHook({ init: (_, type) => void (steps += Number(type.startsWith('FSREQ'))) }).enable();
  const url = `data:image/png;base64,${bytes.toString('base64')}`;
  const { path } = await download(aDownload({ url, maxBytes: bytes.length })).finally(() => hook.disable());
  expect(readFileSync(path).equals(bytes)).toBe(true);
  expect(steps).toBeGreaterThan(0);
  expect(steps).toBeLessThan(8);
});

it('takes the bytes of a data: URL, up to the limit', async () => {
  const url = `DATA:image/png;base64, ${Buffer.from('in the link').toString('base64')}\n`;
  expect(readFileSync((await download(aDownload({ url }))).path, 'utf8')).toBe('in the link');
  expect(await failureOf({ url, maxBytes: 10 })).toMatchObject({ code: 'internal_error' });
  expect(await failureOf({ url: 'data:image/png,plain' })).toMatchObject({ code: 'internal_error' });
  expect(seen).toEqual([]);
});

it('sends a key to no other origin', async () => {
  const other = createServer((request, response) => {
    seen.push(request);
    response.end('theirs');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  answer = (_request, response) => response.writeHead(302, { location }).end();
  const { path } = await download(aDownload({ headers: { authorization: 'Bearer k' } }));
  other.close();
  expect(readFileSync(path, 'utf8')).toBe('theirs');
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer k', undefined]);
});

it.each(['with a length', 'without'])('refuses what is too large, %s, and tries it once', async (how) => {
  answer = (_request, response) => {
    if (how === 'without') response.write('x');
    response.end('x'.repeat(1001));
  };
  expect(await failureOf({})).toMatchObject({ code: 'internal_error', billing: 'charged' });
  expect(seen).toHaveLength(1);
});

it('stops after the last try', async () => {
  answer = (_request, response) => response.writeHead(503).end();
  expect(await failureOf({})).toMatchObject({ code: 'provider_unavailable', billing: 'charged' });
  expect(seen).toHaveLength(8);
});

it('starts the file from the beginning after a broken try', async () => {
  answer = (_request, response) => {
    if (seen.length > 1) return void response.end('short');
    response.writeHead(200, { 'content-length': 100 });
    response.write('much longer than that', () => response.destroy());
  };
  const { path } = await download(aDownload());
  expect(readFileSync(path, 'utf8')).toBe('short');
});

it('follows three redirects, not a loop', async () => {
  answer = (_request, response) => response.writeHead(302, { location: '/again' }).end();
  expect(await failureOf({})).toMatchObject({ code: 'internal_error' });
  expect(seen).toHaveLength(4);
});

it('gets a new link twice, and fails at once without renew', async () => {
  answer = (_request, response) => response.writeHead(410).end();
  let renewed = 0;
  const renew = async () => `${origin()}/${++renewed}`;
  expect(await failureOf({ renew })).toMatchObject({ code: 'internal_error', cause: { status: 410 } });
  expect(seen.map(({ url }) => url)).toEqual(['/file', '/1', '/2']);
});

it('reports a failure of our own disk', async () => {
  expect(await failureOf({ path: join(directory, 'no', 'such') })).toMatchObject({ code: 'result_storage_failed' });
});

it('never calls an address that is neither public nor the upstream’s own', async () => {
  const canary = await Canary.start();
  const { port } = canary;
  const places = [
    `http://[::1]:${port}/`,
    `http://127.0.0.2:${port}/`,
    `http://2130706434:${port}/`,
    `http://0.0.0.0:${port}/`,
  ];
  for (const url of [
    ...places,
    'file:///etc/passwd',
    'ftp://a.example/',
    `http://u:p@127.0.0.1:${port}/`,
    'nonsense',
  ]) {
    expect(await failureOf({ url })).toMatchObject({ code: 'internal_error' });
    answer = (_request, response) => response.writeHead(302, { location: url }).end();
    if (url !== 'nonsense') expect(await failureOf({})).toMatchObject({ code: 'internal_error' });
  }
  // With an upstream that is public, loopback is refused as well.
  const baseUrl = 'https://8.8.8.8/v1';
  expect(await failureOf({ url: `http://127.0.0.1:${port}/`, baseUrl })).toMatchObject({ code: 'internal_error' });
  expect(await failureOf({ url: `http://localhost:${port}/`, baseUrl })).toMatchObject({ code: 'internal_error' });
  expect(canary.connections).toBe(0);
  await canary.stop();
});

it('ends with the reason of the signal, in the middle and between tries', async () => {
  for (const busy of [true, false]) {
    const answered = Promise.withResolvers<void>();
    answer = (_request, response) => {
      if (busy) response.writeHead(503).end(() => answered.resolve());
      else response.write('x', () => answered.resolve());
    };
    const abort = new AbortController();
    // Without the abort, the next try comes after an hour.
    const going = download(aDownload({ signal: abort.signal, retryMs: 3_600_000 }));
    await answered.promise;
    abort.abort('deadline');
    await expect(going).rejects.toBe('deadline');
  }
});
