import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { readBuiltFiles } from '../../src/dashboard/built-files.ts';
import { type BucketOrigin, serveApp } from '../../src/dashboard/serve-app.ts';
import { createHttpApp } from '../../src/platform/http/http-app.ts';

@Module({})
class EmptyModule {}

const PAGE = '<!doctype html><title>Darkroom</title>';
const SCRIPT = `export const words = '${'safelight '.repeat(200)}';`;

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

describe('the dashboard', () => {
  let app: NestFastifyApplication;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'darkroom-app-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), PAGE);
    writeFileSync(join(folder, 'assets/main-1a2b.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/main-1a2b.js.gz'), gzipSync(SCRIPT));
    writeFileSync(join(folder, 'assets/main-1a2b.js.br'), brotliCompressSync(SCRIPT));
    writeFileSync(join(folder, 'stamp'), 'a hash');
    writeFileSync(join(folder, 'assets/main-1a2b.js.map'), '{}');
    app = await serve(folder);
  });
  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });

  it('is the page at every address of a view, checked again at each load', async () => {
    for (const path of ['/app/', '/app/create', '/app/tasks/task_01?tab=json', '/app/providers/gpt-image-2']) {
      const { status, headers, bytes } = await ask(app, path);
      expect([path, status, bytes.toString()]).toEqual([path, 200, PAGE]);
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
      expect((await ask(app, path, { 'if-none-match': headers.etag as string })).status).toBe(304);
    }
  });

  it('has a policy that lets nothing in from other origins, on every answer', async () => {
    for (const path of ['/app/', '/app/assets/main-1a2b.js']) {
      const { headers } = await ask(app, path);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self'; " +
          "font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
          "require-trusted-types-for 'script'; trusted-types 'none'",
      );
      expect(headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it('lets pictures and films in from the bucket that links to files redirect to, and nothing else', async () => {
    const redirecting = await serve(folder, async () => 'https://results.s3.eu-central-1.amazonaws.com');
    const unknown = await serve(folder, () => Promise.reject(new Error('no credentials yet')));
    try {
      const policy = (await ask(redirecting, '/app/')).headers['content-security-policy'] as string;
      const bucket = 'https://results.s3.eu-central-1.amazonaws.com';
      expect(policy.split('; ').filter((each) => each.includes('https'))).toEqual([
        `img-src 'self' blob: ${bucket}`,
        `media-src 'self' ${bucket}`,
      ]);
      const { status, headers } = await ask(unknown, '/app/');
      expect([status, headers['content-security-policy']]).toEqual([200, expect.stringContaining("media-src 'self';")]);
    } finally {
      await Promise.all([redirecting.close(), unknown.close()]);
    }
  });

  it('sends its assets compressed as the browser asks, to be kept for a year', async () => {
    const path = '/app/assets/main-1a2b.js';
    const [plain, gzip, br] = await Promise.all([
      ask(app, path),
      ask(app, path, { 'accept-encoding': 'gzip' }),
      ask(app, path, { 'accept-encoding': 'gzip, br' }),
    ]);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(br.headers['content-encoding']).toBe('br');
    expect(plain.bytes.toString()).toBe(SCRIPT);
    expect(gunzipSync(gzip.bytes).toString()).toBe(SCRIPT);
    expect(br.bytes.length).toBeLessThan(plain.bytes.length / 4);
    for (const { headers } of [plain, gzip, br]) {
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': 'text/javascript; charset=utf-8',
        vary: 'accept-encoding',
      });
    }
    expect(new Set([plain, gzip, br].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it('answers 404 for an asset of another build, and for files that are none of the app', async () => {
    for (const path of [
      'assets/main-9z9z.js',
      'assets/main-1a2b.js.br',
      'assets/main-1a2b.js.map',
      'assets/../stamp',
    ]) {
      const { status, bytes } = await ask(app, `/app/${path}`);
      expect([path, status, JSON.parse(bytes.toString()).error.code]).toEqual([path, 404, 'route_not_found']);
    }
    for (const path of ['/app/stamp', '/app/..%2f..%2fpackage.json', '/app/%2e%2e/%2e%2e/package.json']) {
      expect((await ask(app, path)).bytes.toString()).not.toMatch(/a hash|"name"/);
    }
  });

  it('opens at the root only for browsers', async () => {
    const browser = await ask(app, '/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([browser.status, browser.headers.location]).toEqual([302, '/app/']);
    const program = await ask(app, '/', { accept: '*/*' });
    expect([program.status, JSON.parse(program.bytes.toString()).error.code]).toEqual([404, 'route_not_found']);
    expect([browser.headers.vary, program.headers.vary]).toEqual(['accept', 'accept']); // a cache keeps a 404 too
  });

  it('says what to do when it is not built', async () => {
    const unbuilt = await serve(join(folder, 'missing'));
    const { status, bytes } = await ask(unbuilt, '/app/');
    expect(status).toBe(503);
    expect(JSON.parse(bytes.toString()).error).toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('npm run build'),
    });
    await unbuilt.close();
  });
});

const NO_BUCKET: BucketOrigin = async () => null;

async function serve(folder: string, origin = NO_BUCKET): Promise<NestFastifyApplication> {
  const app = await createHttpApp(EmptyModule, { corsOrigins: [], logLevel: 'silent' });
  serveApp(app.getHttpAdapter().getInstance() as unknown as FastifyInstance, readBuiltFiles(folder), origin);
  await app.listen(0, '127.0.0.1');
  return app;
}

/** By node:http: `fetch` decompresses, and normalises paths. */
function ask(app: NestFastifyApplication, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { port } = app.getHttpServer().address() as { port: number };
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    }).on('error', reject);
  });
}
