import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3Storage } from './s3.storage.ts';

/** More than an answer may have, but little enough that a test which fails does so soon. */
const TOO_MANY_BYTES = 64 * 1024 * 1024;

let server: Server;
let calls = 0;
let sentBytes = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let storage: S3Storage;

beforeAll(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' });
  server = createServer((request, response) => {
    calls += 1;
    request.resume().on('end', () => answer(request, response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  storage = await S3Storage.connect(`s3://results?endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
beforeEach(() => {
  [calls, sentBytes] = [0, 0];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const tooLong = (status: number) => (_request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status);
  const part = Buffer.alloc(65_536, ' ');
  const go = (): void => {
    while (!response.destroyed && sentBytes < TOO_MANY_BYTES) {
      sentBytes += part.length;
      if (!response.write(part)) return void response.once('drain', go);
    }
    response.end();
  };
  go();
};

describe('a bucket that lies', () => {
  it.each([
    ['a put', 200, () => storage.put('task_a/1-0.png', Buffer.from('abc'), 'image/png')],
    ['a refused put', 403, () => storage.put('task_a/1-0.png', Buffer.from('abc'), 'image/png')],
    ['a refused read', 403, () => storage.open('task_a/1-0.png')],
    ['a listing', 200, () => storage.deleteAll('task_a')],
  ])('is not read on after an answer to %s that does not end', async (_, status, call) => {
    answer = tooLong(status);
    await expect(call()).rejects.toThrow();
    expect(sentBytes / calls).toBeLessThan(TOO_MANY_BYTES / 2);
  });

  it('is not asked for the same page of a listing again and again', async () => {
    answer = (_, response) =>
      response.end('<ListBucketResult><NextContinuationToken>again</NextContinuationToken></ListBucketResult>');
    for await (const key of storage.list()) throw new Error(`a key: ${key}`);
    expect(calls).toBe(2);
  });
});
