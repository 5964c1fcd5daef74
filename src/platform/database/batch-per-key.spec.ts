import { currentRequest } from '../observe/logging/request-context.ts';
import { Batch } from './batch.ts';
import { BatchPerKey } from './batch-per-key.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a batch for each API key', () => {
  it('flushes the items of a key together, and never waits for those of another key', async () => {
    const flushes: { items: string[]; end: (outcomes: string[]) => void }[] = [];
    const flush = (items: string[]) => new Promise<string[]>((resolve) => flushes.push({ items, end: resolve }));
    const batches = new BatchPerKey<string, string>(flush, { name: 'test' });
    const answers = ['a1', 'a2', 'b1'].map((item) => batches.add(item[0]!, item));
    await turn();
    expect(flushes.map(({ items }) => items)).toEqual([['a1', 'a2'], ['b1']]);
    const later = batches.add('b', 'b2');
    flushes[1]!.end(['B1']);
    expect(await answers[2]).toBe('B1');
    await turn();
    expect(flushes[2]!.items).toEqual(['b2']);
    flushes[2]!.end(['B2']);
    expect(await later).toBe('B2');
    flushes[0]!.end(['A1', 'A2']);
    expect(await Promise.all(answers)).toEqual(['A1', 'A2', 'B1']);
  });

  it('flushes in the share of the key, unlike a batch of several keys', async () => {
    const owners: unknown[] = [];
    const flush = async (items: string[]) => {
      owners.push(currentRequest.getStore()?.shareOf);
      return items;
    };
    const [own, common] = [new BatchPerKey(flush, {}), new Batch(flush)];
    await currentRequest.run({ id: 'req_1', shareOf: 'key_a' }, async () => {
      await own.add('key_a', 'x');
      await common.add('x');
    });
    expect(owners).toEqual(['key_a', undefined]);
  });
});
