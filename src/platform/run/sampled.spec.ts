import { currentRequest } from '../observe/logging/request-context.ts';
import { Sampled } from './sampled.ts';

it('reads once for all callers, and for none of their requests', async () => {
  const readers: unknown[] = [];
  const sampled = new Sampled(async () => readers.push(currentRequest.getStore()), 60_000);
  const asked = ['a', 'b'].map((key) =>
    currentRequest.run({ id: `req_${key}`, shareOf: `key_${key}` }, async () => sampled.get()),
  );
  expect(await Promise.all(asked)).toEqual([1, 1]);
  expect(await sampled.get()).toBe(1);
  expect(readers).toEqual([undefined]);
});
