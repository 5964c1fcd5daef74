import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { eventually } from '../../../test/support/wait.ts';
import { StoreOutputs } from './store-outputs.ts';

type Parts = ConstructorParameters<typeof StoreOutputs>;

const logs = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
afterAll(() => logs.mockRestore());

it('waits for the storage no longer when another output of the task has failed', async () => {
  const put = jest.fn(() => Promise.reject(new Error('The storage is away.')));
  const broken = Buffer.from('no image');
  const conversions = {
    convert: async (made: Buffer) => {
      if (made === broken) await eventually('the first failure', async () => put.mock.calls.length > 0);
      return made;
    },
  };
  const provenance = { mark: async ({ body }: { body: Buffer }) => body };
  const outputs = new StoreOutputs(
    { put } as unknown as Parts[0],
    provenance as unknown as Parts[1],
    {} as Parts[2],
    conversions as unknown as Parts[3],
  );
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const lease = { id: 'task_1', attempt: 1, signal: new AbortController().signal } as Parameters<
    typeof outputs.store
  >[0];
  const made = { model: 'gpt-image-2', conversion: { apiKeyId: 'a', wanted: null } };
  await expect(outputs.store(lease, [png, broken], made)).rejects.toMatchObject({ code: 'internal_error' });
  await eventually('the end of the wait', async () => !outputs.isFailing);
});
