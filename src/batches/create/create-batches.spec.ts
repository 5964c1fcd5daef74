import { jest } from '@jest/globals';
import type { Caller } from '../../auth/access/caller.ts';
import { CreateBatches } from './create-batches.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the creation of batches', () => {
  let creating: { by: string; fail: () => void }[];
  let batches: CreateBatches;
  let ends: Promise<unknown>[];
  beforeEach(() => {
    [creating, ends] = [[], []];
    /** Refuses the whole batch when the test says so. */
    const prepareAll = ({ apiKeyId }: Caller) =>
      new Promise((_, reject) => creating.push({ by: apiKeyId, fail: () => reject(new Error('refused')) }));
    const endpoint = { path: '/v1/generations', translate: (body: object) => ({ body }) };
    batches = new CreateBatches(
      { batchMaxItems: 10 } as never,
      {} as never,
      {} as never,
      { prepareAll, needS: () => 1 } as never,
      { find: () => endpoint } as never,
      {} as never,
      {} as never,
      {} as never,
      {} as never,
    );
  });
  const create = (apiKeyId: string, gone = new AbortController().signal) => {
    const created = batches.create({ apiKeyId } as Caller, { requests: [{ body: {} }] }, undefined, gone);
    const end = created.then(
      () => 'created',
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
    ends.push(end);
    return end;
  };
  const creators = () => creating.map(({ by }) => by);

  it('is one at a time for a key, and three at a time for all', async () => {
    for (const key of ['a', 'a', 'b', 'c', 'd']) void create(key);
    await turn();
    expect(creators()).toEqual(['a', 'b', 'c']);
    creating[1]!.fail();
    await turn();
    expect(creators()).toEqual(['a', 'b', 'c', 'd']);
    creating[0]!.fail();
    await turn();
    expect(creators()).toEqual(['a', 'b', 'c', 'd', 'a']);
    for (const { fail } of creating) fail();
    expect(await Promise.all(ends)).toEqual(ends.map(() => 'refused'));
  });

  it('is given up by a client that has gone, and refused after a long wait', async () => {
    const timeout = new AbortController();
    const never = new AbortController().signal;
    jest
      .spyOn(AbortSignal, 'timeout')
      .mockReturnValueOnce(never)
      .mockReturnValueOnce(never)
      .mockReturnValueOnce(timeout.signal);
    const gone = new AbortController();
    const first = create('a');
    const left = create('a', gone.signal);
    const late = create('a');
    await turn();
    gone.abort();
    timeout.abort();
    expect([await left, await late]).toEqual(['service_unavailable', 'service_unavailable']);
    expect(creators()).toEqual(['a']);
    creating[0]!.fail();
    expect(await first).toBe('refused');
    jest.restoreAllMocks();
  });
});
