import { Logger } from '@nestjs/common';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { S3Storage } from './s3.storage.ts';

/** Milliseconds. The real limits are 5 s and 30 s. Without limits each call here waits for minutes. */
const LIMITS = { connectMs: 60, silenceMs: 61 };

const LISTEN = `
  const server = require('node:net').createServer((socket) => socket.pause());
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;

/** A stopped process: its kernel accepts connections until the queue is full, then drops what arrives. */
let frozen: ChildProcess;
let port: number;
let folder: string;
const fillers: Socket[] = [];

beforeAll(() => Logger.overrideLogger(false)); // warnings of the SDK are logged
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

/** Expects an error that names the limit. */
async function expectEnd(call: (hole: S3Storage) => Promise<unknown>): Promise<void> {
  await expect(call(await connected())).rejects.toThrow(/within the configured timeout of 60 ms|timed out after 61 ms/);
}

// In this order: once the queue is full, it stays full.
describe('an S3 that accepts connections and reads nothing', () => {
  it('ends a put that fills the connection', async () => {
    const [, put] = CALLS[1]!;
    await expectEnd(put);
  });
});

describe('an S3 that drops every packet', () => {
  beforeAll(async () => {
    // More than the queue holds. On loopback they are in it as soon as they have begun, in the next turn.
    for (let nth = 0; nth < 8; nth += 1) fillers.push(connect(port, '127.0.0.1').on('error', () => undefined));
    await new Promise((resolve) => setImmediate(resolve));
  });

  it.each(CALLS)('ends %s', async (_, call) => {
    await expectEnd(call);
  });
});
