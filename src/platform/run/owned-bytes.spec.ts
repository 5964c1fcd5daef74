import { allocateOwned, free, own } from './owned-bytes.ts';

it('frees owned bytes at once, and only once', () => {
  const bytes = allocateOwned(1000).fill(1);
  free(bytes);
  expect(bytes).toHaveLength(0);
  expect(() => free(bytes)).not.toThrow();
});

it('frees the whole buffer of a part that took over the ownership', () => {
  const bytes = allocateOwned(1000);
  const part = own(bytes.subarray(0, 10));
  free(part);
  expect([part.length, bytes.length]).toEqual([0, 0]);
});

it.each([
  ['a part', (bytes: Buffer) => bytes.subarray(0, 10)],
  ['bytes of a pool', () => Buffer.from('of a pool')],
  ['a file', () => ({ path: '/none' })],
])('leaves %s alone', (_, made) => {
  const bytes = allocateOwned(1000);
  free(made(bytes));
  expect(bytes).toHaveLength(1000);
});
