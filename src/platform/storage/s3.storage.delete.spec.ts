import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3Storage } from './s3.storage.ts';

const NAMES = ['1-0.png', '1-1.png', 'preview-0-256.webp'];

let server: Server;
let asked: string[];
/** Status and body of DeleteObjects. */
let together: [number, string];
let storage: S3Storage;

beforeAll(() => Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }));
beforeEach(async () => {
  asked = [];
  together = [200, '<DeleteResult></DeleteResult>'];
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      const [status, body] = answer(request);
      response.writeHead(status).end(body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  storage = await S3Storage.connect(`s3://results?endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function answer({ method, url }: IncomingMessage): [number, string] {
  const { pathname, searchParams } = new URL(url!, 'http://s3');
  asked.push(searchParams.has('delete') ? 'DeleteObjects' : `${method} ${pathname.replace('/results', '')}`);
  if (searchParams.has('delete')) return together;
  const files = NAMES.map((name) => `<Contents><Key>${searchParams.get('prefix')}${name}</Key></Contents>`);
  return method === 'GET' ? [200, `<ListBucketResult>${files.join('')}</ListBucketResult>`] : [204, ''];
}

const ONE_BY_ONE = NAMES.map((name) => `DELETE /task_a/${name}`);

describe('the deletion of a folder', () => {
  it('takes two calls', async () => {
    await storage.deleteAll('task_a');
    expect(asked).toEqual(['GET /', 'DeleteObjects']);
  });

  it('goes one by one where the server has no DeleteObjects, which is tried once', async () => {
    together = [501, '<Error><Code>NotImplemented</Code></Error>'];
    await storage.deleteAll('task_a');
    expect(asked.filter((call) => call === 'DeleteObjects').length).toBeGreaterThan(0);
    expect(asked.slice(-3)).toEqual(ONE_BY_ONE);
    asked = [];
    await storage.deleteAll('task_a');
    expect(asked).toEqual(['GET /', ...ONE_BY_ONE]);
  });

  it('fails when the server could not delete an object', async () => {
    together = [200, '<DeleteResult><Error><Key>task_a/1-0.png</Key><Code>AccessDenied</Code></Error></DeleteResult>'];
    await expect(storage.deleteAll('task_a')).rejects.toThrow(
      '1 objects were not deleted; task_a/1-0.png: AccessDenied',
    );
  });

  it('fails when the credentials do not permit it, and tries nothing else', async () => {
    together = [403, '<Error><Code>AccessDenied</Code></Error>'];
    await expect(storage.deleteAll('task_a')).rejects.toThrow();
    expect(asked).toEqual(['GET /', 'DeleteObjects']);
  });
});

describe('readiness', () => {
  it('asks the server at most every 30 s, whatever it answered', async () => {
    await Promise.all([storage.ready(), storage.ready()]);
    await storage.ready();
    expect(asked).toEqual(['HEAD /']);
  });
});
