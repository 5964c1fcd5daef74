import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Storage } from './s3.storage.ts';

/** Milliseconds. The real limits are 5 s and 30 s. */
const LIMITS = { connectMs: 300, silenceMs: 300 };
/** An error of three attempts, with the pauses between them. Without limits each call here waits for minutes. */
const ENDED_MS = 6_000;

const LISTEN = `
  const server = require('node:net').createServer((socket) => socket.pause());
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;

/** A stopped process: its kernel accepts connections until the queue is full, then drops what arrives. */
let frozen: ChildProcess;
let port: number;
let folder: string;
const fillers: Socket[] = [];

beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' });
  folder = await mkdtemp(join(tmpdir(), 'darkroom-s3-hole-'));
  await writeFile(join(folder, 'film'), Buffer.alloc(20_000_000, 'v'));
  frozen = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(frozen.stdout!), 'line')) as [string];
  port = Number(line);
  frozen.kill('SIGSTOP');
});
afterAll(async () => {
  for (const socket of fillers) socket.destroy();
  frozen.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const CALLS: [string, (hole: S3Storage) => Promise<unknown>][] = [
  ['a put of bytes', (hole) => hole.put('task_s/1-0.png', Buffer.alloc(20_000_000), 'image/png')],
  ['a put of a file', (hole) => hole.put('task_s/1-0.mp4', { path: join(folder, 'film') }, 'video/mp4')],
  ['a read', (hole) => hole.open('task_s/1-0.png')],
  ['a look-up', (hole) => hole.size('task_s/1-0.png')],
  ['a deletion', (hole) => hole.deleteAll('task_s')],
];
const connected = () => S3Storage.connect(`s3://results?endpoint=http://127.0.0.1:${port}`, LIMITS);

/** @returns milliseconds until the call failed */
async function failing(call: (hole: S3Storage) => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await expect(call(await connected())).rejects.toThrow(/timed out|TimeoutError|did not establish/);
  return performance.now() - begun;
}

// In this order: once the queue is full, it stays full.
describe('an S3 that accepts connections and reads nothing', () => {
  it('ends a put that fills the connection', async () => {
    const [, put] = CALLS[1]!;
    expect(await failing(put)).toBeLessThan(ENDED_MS);
  });
});

describe('an S3 that drops every packet', () => {
  beforeAll(async () => {
    for (;;) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      fillers.push(socket);
      if ((await Promise.race([once(socket, 'connect'), sleep(500, 'hangs')])) === 'hangs') return;
    }
  });

  it.each(CALLS)('ends %s', async (_, call) => {
    expect(await failing(call)).toBeLessThan(ENDED_MS);
  });
});
