import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Storage } from './s3.storage.ts';

/** Bytes. */
const SIZES = { singleMax: 1_000_000, part: 300_000 };
const BYTES = 1_000_001;
const PARTS = [300_000, 300_000, 300_000, 100_001];

let folder: string;
const film = randomBytes(BYTES);

beforeAll(() => Logger.overrideLogger(false)); // warnings of the SDK are logged
beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' });
  folder = await mkdtemp(join(tmpdir(), 'darkroom-s3-parts-'));
  await writeFile(join(folder, 'film'), film);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server that records what it is asked, and fails as told. */
class Recorder {
  readonly asked: string[] = [];
  readonly parts = new Map<number, Buffer>();
  /** Calls that end without an answer, and whether each does so every time. */
  private readonly broken = new Map<string, 'once' | 'always'>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { searchParams } = new URL(request.url!, 'http://s3');
        const part = searchParams.get('partNumber');
        const call = part ? `part ${part}` : `${request.method} ${searchParams.has('uploads') ? 'start' : searchParams.get('uploadId')}`; // prettier-ignore
        this.asked.push(call);
        const failure = this.broken.get(call);
        if (failure === 'once') this.broken.delete(call);
        if (failure) return void request.socket.destroy();
        if (part) this.parts.set(Number(part), Buffer.concat(chunks));
        const body = searchParams.has('uploads')
          ? '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>'
          : request.method === 'POST'
            ? '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>'
            : '';
        response.writeHead(request.method === 'DELETE' ? 204 : 200, { etag: `"${part ?? ''}"` }).end(body);
      });
    });
  }

  breaks(call: string, times: 'once' | 'always' = 'always'): this {
    this.broken.set(call, times);
    return this;
  }

  async run(work: (storage: S3Storage) => Promise<void>): Promise<void> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.server.address() as AddressInfo;
    try {
      await work(await S3Storage.connect(`s3://results?endpoint=http://127.0.0.1:${port}`, { sizes: SIZES }));
    } finally {
      this.server.closeAllConnections();
      this.server.close();
    }
  }

  get bytes(): Buffer {
    return Buffer.concat([...this.parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes));
  }
}

describe('a large file', () => {
  it.each([
    ['from disk', () => ({ path: join(folder, 'film') })],
    ['from memory', () => film],
  ])('goes in parts, %s', async (_, body) => {
    const server = new Recorder();
    await server.run((storage) => storage.put('task_a/1-0.mp4', body(), 'video/mp4'));
    expect(server.asked[0]).toBe('POST start');
    expect(server.asked.at(-1)).toBe('POST u1');
    expect(server.asked.slice(1, -1).sort()).toEqual(['part 1', 'part 2', 'part 3', 'part 4']);
    expect([1, 2, 3, 4].map((nth) => server.parts.get(nth)!.length)).toEqual(PARTS);
    expect(server.bytes.equals(film)).toBe(true);
  });

  it('is sent whole up to the limit', async () => {
    const server = new Recorder();
    await server.run((storage) => storage.put('task_a/1-0.mp4', film.subarray(1), 'video/mp4'));
    expect(server.asked).toEqual(['PUT null']);
  });

  it('sends a part again whose connection was lost, and no other', async () => {
    const server = new Recorder().breaks('part 2', 'once');
    await server.run((storage) => storage.put('task_a/1-0.mp4', { path: join(folder, 'film') }, 'video/mp4'));
    expect(server.asked.filter((call) => call.startsWith('part')).sort()).toEqual(['part 1', 'part 2', 'part 2', 'part 3', 'part 4']); // prettier-ignore
    expect(server.bytes.equals(film)).toBe(true);
  });

  it.each([
    ['a part', 'part 3'],
    ['its end', 'POST u1'],
  ])('is aborted when %s fails, and the failure is told', async (_, call) => {
    const server = new Recorder().breaks(call);
    await server.run(async (storage) => {
      const put = storage.put('task_a/1-0.mp4', { path: join(folder, 'film') }, 'video/mp4');
      await expect(put).rejects.toThrow(/socket hang up|ECONNRESET/);
    });
    expect(server.asked.at(-1)).toBe('DELETE u1');
    expect(server.asked.filter((each) => each === call)).toHaveLength(3);
  });

  it('tells the first failure when the abort fails too', async () => {
    const server = new Recorder().breaks('part 1').breaks('DELETE u1');
    await server.run(async (storage) => {
      await expect(storage.put('task_a/1-0.mp4', film, 'video/mp4')).rejects.toThrow(/socket hang up|ECONNRESET/);
    });
  });
});
