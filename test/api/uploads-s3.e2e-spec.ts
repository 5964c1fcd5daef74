// Own settings: files in a bucket.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { type OwnService, startOwnService } from '../support/service.ts';
import type { ErrorBody } from '../support/clients/api.ts';
import { aPicture, FilesClient, sha256 } from '../support/clients/files.ts';

let folder: string;
let server: S3rver;
let service: OwnService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'darkroom-s3-'));
  const configureBuckets = [{ name: 'results', configs: [] }];
  server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: folder, configureBuckets });
  const { port } = await server.run();
  service = await startOwnService({
    STORAGE_URL: `s3://results?endpoint=http://127.0.0.1:${port}&prefix=room`,
    // The only credentials that the test server accepts.
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  });
});
afterAll(async () => {
  await service?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

it('a direct upload goes to the bucket with the same client code, and is judged when it is completed', async () => {
  const files = new FilesClient(service.api);
  const png = await aPicture(20, 10);
  const pending = await files.announce(png, { sha256: sha256(png) });
  expect(pending.upload!.url).toMatch(/\/results\/room\/uploads\/key_.*X-Amz-Signature=/);
  expect((await files.complete<ErrorBody>(pending.id)).body.error.code).toBe('upload_incomplete');
  expect((await files.put(pending, png)).status).toBe(200);
  expect((await files.complete(pending.id)).body).toMatchObject({
    status: 'processed',
    width: 20,
    sha256: sha256(png),
  });
  // The link still works for the rest of its hour, but not on what was judged.
  expect((await files.put(pending, Buffer.alloc(png.length))).status).toBe(200);
  expect(Buffer.from(await (await files.content(pending.id)).arrayBuffer())).toEqual(png);
  const part = await files.content(pending.id, { range: 'bytes=0-3' });
  expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, png.subarray(0, 4)]);

  const lie = await files.announce(png);
  expect((await files.put(lie, Buffer.from('x'.repeat(png.length)))).status).toBe(200);
  expect((await files.complete<ErrorBody>(lie.id)).body.error.code).toBe('invalid_image');
  expect((await files.complete<ErrorBody>(lie.id)).body.error.code).toBe('upload_incomplete');
});
