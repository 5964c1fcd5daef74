import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { eventually } from '../../../test/support/wait.ts';
import { allocateOwned } from '../../platform/run/owned-bytes.ts';
import { FreshOutputs } from './fresh-outputs.ts';
import { StoreOutputs } from './store-outputs.ts';

type Parts = ConstructorParameters<typeof StoreOutputs>;

const logs = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
afterAll(() => logs.mockRestore());

const asLease = (signal: AbortSignal) =>
  ({ id: 'task_01jd0000000000000000000000', attempt: 1, signal }) as Parameters<StoreOutputs['store']>[0];
const made = { model: 'gpt-image-2', conversion: { apiKeyId: 'a', wanted: null } };

/** The bytes that a provider has decoded. */
async function ownedPng(): Promise<Buffer> {
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } });
  const png = await image.png().toBuffer();
  const bytes = allocateOwned(png.length);
  png.copy(bytes);
  return bytes;
}

/** Puts what `put` does in place of the storage, and marks an output with one more byte. */
function storing(put: (key: string, body: Buffer) => Promise<void>) {
  const copies: Buffer[] = [];
  const mark = async ({ body }: { body: Buffer }) => {
    const marked = allocateOwned(body.length + 1).fill(0);
    body.copy(marked);
    copies.push(marked);
    return marked;
  };
  const parts = [
    { put },
    { mark },
    {},
    { convert: async (each: Buffer) => each },
    new FreshOutputs(),
  ] as unknown as Parts;
  return { outputs: new StoreOutputs(...parts), copies };
}

it('frees the memory of an output once it is stored and hashed', async () => {
  const stored: Buffer[] = [];
  const { outputs, copies } = storing(async (_, body) => void stored.push(Buffer.from(body)));
  const png = await ownedPng();
  const size = png.length + 1;
  const [output] = await outputs.store(asLease(new AbortController().signal), [png], { ...made, seeds: [7] });
  expect(output).toMatchObject({
    seed: 7,
    size_bytes: size,
    sha256: createHash('sha256').update(stored[0]!).digest('hex'),
  });
  expect(stored[0]).toHaveLength(size);
  expect([png.length, copies[0]!.length]).toEqual([0, 0]);
});

it('frees no memory that a failed put may still read', async () => {
  const stop = new AbortController();
  const { outputs, copies } = storing(async () => {
    stop.abort('deadline');
    throw new Error('The storage is away.');
  });
  await expect(outputs.store(asLease(stop.signal), [await ownedPng()], made)).rejects.toBeTruthy();
  expect(copies[0]!.length).toBeGreaterThan(0);
});

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
    new FreshOutputs(),
  );
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  await expect(outputs.store(asLease(new AbortController().signal), [png, broken], made)).rejects.toMatchObject({
    code: 'internal_error',
  });
  await eventually('the end of the wait', async () => !outputs.isFailing);
});
