import { Readable } from 'node:stream';
import { eventually } from '../../../test/support/wait.ts';
import { DirectUploads } from './direct-uploads.ts';

it('reads few uploads back at the same time, however many are completed', async () => {
  const opened = Promise.withResolvers<void>();
  let [reads, sizes] = [0, 0];
  const files = {
    findUpload: async () => ({ status: 'pending', blob_id: 'uploads/1', bytes: 1, expires_at: new Date(8e15) }),
    complete: async () => ({ status: 'processed' }),
  };
  const storage = {
    size: async () => (sizes += 1) && 1,
    open: async () => {
      reads += 1;
      await opened.promise;
      return Readable.from([Buffer.from('x')]);
    },
    delete: async () => undefined,
  };
  const uploads = new DirectUploads(files as never, {} as never, storage as never, {} as never, {} as never);
  const completions = Array.from({ length: 20 }, () => uploads.complete({ apiKeyId: 'key_1' } as never, 'file_1'));
  await eventually('the first reads', async () => reads >= 8);
  const atOnce = reads;
  opened.resolve();
  await Promise.all(completions);
  expect([atOnce, reads, sizes]).toEqual([8, 20, 20]);
});
